import { py } from '../../../tests/support/python.js';

export interface Snippet {
  what: string;
  persona: string;
  capability: string;
  context?: Record<string, unknown>;
  code: string;
  /** What the value of the last expression is, as JSON; or a part of what is printed. */
  gives: { json: unknown } | { printed: string };
}

const SALES = {
  rows: [
    { region: 'north', quarter: 'Q1', product: 'a', revenue: 120, cost: 80 },
    { region: 'north', quarter: 'Q2', product: 'a', revenue: 150, cost: 90 },
    { region: 'south', quarter: 'Q1', product: 'b', revenue: 200, cost: 160 },
    { region: 'south', quarter: 'Q2', product: 'b', revenue: 180, cost: 150 },
    { region: 'west', quarter: 'Q2', product: 'a', revenue: 90, cost: 95 },
  ],
};

/** What an analyst writes, with pandas and numpy as the persona imports them. */
export const SNIPPETS: Snippet[] = [
  {
    what: 'a table from the context, with new columns',
    persona: 'diego',
    capability: 'performance_metrics',
    context: SALES,
    code: py`
      frame = pandas.DataFrame(strategic_context["rows"])
      frame["margin"] = (frame["revenue"] - frame["cost"]) / frame["revenue"]
      frame.sort_values("margin", ascending=False).head(2)["margin"].round(3).tolist()
    `,
    gives: { json: [0.4, 0.333] },
  },
  {
    what: 'groups and their sums',
    persona: 'alvaro',
    capability: 'strategic_data_analysis',
    context: SALES,
    code: py`
      import pandas as pd
      frame = pd.DataFrame(strategic_context["rows"])
      frame.groupby("region").agg(revenue=("revenue", "sum"), orders=("revenue", "size")).to_dict("index")
    `,
    gives: {
      json: {
        north: { revenue: 270, orders: 2 },
        south: { revenue: 380, orders: 2 },
        west: { revenue: 90, orders: 1 },
      },
    },
  },
  {
    what: 'two tables merged',
    persona: 'martin',
    capability: 'strategic_data_analysis',
    context: SALES,
    code: py`
      targets = pandas.DataFrame({"region": ["north", "south", "east"], "target": [250, 400, 100]})
      totals = pandas.DataFrame(strategic_context["rows"]).groupby("region", as_index=False)["revenue"].sum()
      both = totals.merge(targets, on="region", how="outer", indicator=True)
      json.loads(both.set_index("region")["_merge"].astype(str).to_json())
    `,
    gives: { json: { east: 'right_only', north: 'both', south: 'both', west: 'left_only' } },
  },
  {
    what: 'a pivot table',
    persona: 'camille',
    capability: 'executive_reporting',
    context: SALES,
    code: py`
      frame = pandas.DataFrame(strategic_context["rows"])
      print(frame.pivot_table(index="region", columns="quarter", values="revenue", aggfunc="sum", fill_value=0, margins=True).to_string())
    `,
    gives: { printed: 'All      320  420  740' },
  },
  {
    what: 'figures of statistics',
    persona: 'alvaro',
    capability: 'performance_metrics',
    code: py`
      values = [12, 15, 11, 19, 23, 18]
      [statistics.mean(values), statistics.median(values), round(statistics.stdev(values), 3), round(float(numpy.percentile(values, 90)), 2)]
    `,
    gives: { json: [16.333333333333332, 16.5, 4.546, 21] },
  },
  {
    what: 'a table of net present value and return',
    persona: 'alvaro',
    capability: 'roi_calculations',
    context: { rate: 0.08, projects: { platform: [-1000, 400, 450, 500], training: [-200, 120, 130, 10] } },
    code: py`
      rate = strategic_context["rate"]
      rows = []
      for name, flows in strategic_context["projects"].items():
          flows = numpy.array(flows, dtype=float)
          years = numpy.arange(len(flows))
          rows.append({
              "project": name,
              "npv": float((flows / (1 + rate) ** years).sum().round(2)),
              "roi": round(float(flows[1:].sum() / -flows[0] - 1), 3),
              "payback": int(numpy.argmax(flows.cumsum() >= 0)),
          })
      table = pandas.DataFrame(rows).set_index("project")
      print(table.to_string())
      rows
    `,
    gives: {
      json: [
        { project: 'platform', npv: 153.09, roi: 0.35, payback: 3 },
        { project: 'training', npv: 30.5, roi: 0.3, payback: 2 },
      ],
    },
  },
  {
    what: 'a rolling mean over dates',
    persona: 'diego',
    capability: 'performance_metrics',
    code: py`
      days = pandas.date_range("2030-01-01", periods=10, freq="D")
      velocity = pandas.Series(numpy.arange(10), index=days)
      velocity.rolling(3).mean().dropna().tail(2).tolist() + [velocity.resample("5D").sum().tolist()]
    `,
    gives: { json: [7, 8, [10, 35]] },
  },
  {
    what: 'a description of every column',
    persona: 'rachel',
    capability: 'strategic_data_analysis',
    context: SALES,
    code: py`
      frame = pandas.DataFrame(strategic_context["rows"])
      print(frame.describe(include="all").to_string())
      frame.dtypes.astype(str).to_dict()["revenue"]
    `,
    gives: { json: 'int64' },
  },
  {
    what: 'stakeholders scored and ranked',
    persona: 'diego',
    capability: 'stakeholder_analytics',
    context: {
      weights: { influence: 0.5, interest: 0.3, support: 0.2 },
      people: [
        { name: 'cfo', influence: 9, interest: 4, support: 3 },
        { name: 'lead', influence: 5, interest: 9, support: 9 },
        { name: 'ops', influence: 3, interest: 6, support: 5 },
      ],
    },
    code: py`
      people = pandas.DataFrame(strategic_context["people"]).set_index("name")
      weights = pandas.Series(strategic_context["weights"])
      people["score"] = people[weights.index].mul(weights).sum(axis=1)
      people["tier"] = pandas.cut(people["score"], bins=[0, 5, 6.5, 10], labels=["inform", "involve", "partner"])
      people.sort_values("score", ascending=False)["tier"].astype(str).to_dict()
    `,
    gives: { json: { lead: 'partner', cfo: 'involve', ops: 'inform' } },
  },
  {
    what: 'a report as JSON',
    persona: 'martin',
    capability: 'executive_reporting',
    context: SALES,
    code: py`
      import datetime
      frame = pandas.DataFrame(strategic_context["rows"])
      report = {
          "for": role,
          "asOf": datetime.date(2030, 1, 31).isoformat(),
          "total": int(frame["revenue"].sum()),
          "best": frame.loc[frame["revenue"].idxmax(), "region"],
          "byQuarter": json.loads(frame.groupby("quarter")["revenue"].sum().to_json()),
      }
      print(json.dumps(report, indent=2))
      report
    `,
    gives: {
      json: {
        for: 'Platform Architecture',
        asOf: '2030-01-31',
        total: 740,
        best: 'south',
        byQuarter: { Q1: 320, Q2: 420 },
      },
    },
  },
  {
    what: 'a correlation and a straight line',
    persona: 'camille',
    capability: 'strategic_data_analysis',
    code: py`
      rng = numpy.random.default_rng(7)
      spend = numpy.linspace(1, 10, 50)
      growth = 3 * spend + 2 + rng.normal(0, 0.01, 50)
      slope, base = numpy.polyfit(spend, growth, 1)
      matrix = pandas.DataFrame({"spend": spend, "growth": growth}).corr()
      [round(float(slope), 1), round(float(base), 1), round(float(matrix.loc["spend", "growth"]), 3)]
    `,
    gives: { json: [3, 2, 1] },
  },
  {
    what: 'missing values, outliers and duplicates put right',
    persona: 'rachel',
    capability: 'strategic_data_analysis',
    code: py`
      frame = pandas.DataFrame({"team": ["x", "x", "y", "y", "y"], "score": [4.0, None, 5.0, 5.0, 90.0]}).drop_duplicates()
      frame["score"] = frame.groupby("team")["score"].transform(lambda column: column.fillna(column.median()))
      low, high = frame["score"].quantile([0.0, 0.75])
      frame["score"] = frame["score"].clip(low, high)
      frame["score"].tolist()
    `,
    gives: { json: [4, 4, 5, 26.25] },
  },
  {
    what: 'a simulation of a hundred thousand futures',
    persona: 'alvaro',
    capability: 'roi_calculations',
    code: py`
      rng = numpy.random.default_rng(42)
      flows = rng.normal([300, 350, 400], [80, 90, 120], size=(100_000, 3))
      npv = (flows / 1.1 ** numpy.arange(1, 4)).sum(axis=1) - 800
      low, middle, high = pandas.Series(npv).quantile([0.05, 0.5, 0.95])
      [round(float((npv > 0).mean()), 1), bool(low < middle < high)]
    `,
    gives: { json: [0.7, true] },
  },
  {
    what: 'a large table, grouped by two columns',
    persona: 'diego',
    capability: 'performance_metrics',
    code: py`
      from collections import Counter
      size = 200_000
      frame = pandas.DataFrame({"team": numpy.arange(size) % 7, "week": numpy.arange(size) % 52, "hours": numpy.ones(size)})
      totals = frame.groupby(["team", "week"])["hours"].sum().unstack()
      [list(totals.shape), float(totals.to_numpy().sum()), Counter(frame["team"].tolist())[0]]
    `,
    gives: { json: [[7, 52], 200000, 28572] },
  },
  {
    what: 'a table and a chart for a report',
    persona: 'rachel',
    capability: 'executive_reporting',
    code: py`
      import matplotlib.pyplot as plt
      from jinja2 import Template
      from tabulate import tabulate
      frame = pandas.DataFrame({"team": ["a", "b"], "cost": [3, 4]})
      figure, axes = plt.subplots()
      frame.plot.bar(x="team", y="cost", ax=axes)
      figure.savefig("chart.png")
      print(tabulate(frame, headers="keys", tablefmt="github", showindex=False))
      print(Template("{{ count }} teams").render(count=len(frame)))
    `,
    gives: { printed: '| b      |      4 |\n2 teams' },
  },
  {
    what: 'strings, dates and categories',
    persona: 'rachel',
    capability: 'stakeholder_analytics',
    code: py`
      notes = pandas.DataFrame({"at": ["2030-01-03", "2030-02-10", "2030-02-11"], "text": ["Ship it", "too slow", "TOO dear"]})
      notes["at"] = pandas.to_datetime(notes["at"])
      notes["about"] = notes["text"].str.lower().str.extract(r"(slow|dear)", expand=False).fillna("other").astype("category")
      notes.groupby(notes["at"].dt.strftime("%Y-%m"))["about"].apply(list).to_dict()
    `,
    gives: { json: { '2030-01': ['other'], '2030-02': ['slow', 'dear'] } },
  },
];
