/** Notebook code as people write it: what each display mainly is, and what is printed if that matters. */
export interface DisplaySnippet {
  name: string;
  code: string;
  shows: string[];
  prints?: string | RegExp;
  /** The type of the first chart as data; null: none. */
  chart?: string | null;
  /** Elements of that chart. */
  elements?: unknown[];
  /** The longest side of the pictures, in pixels; at most 1,520 if not given. */
  widest?: number;
  /** The least width of the first picture. */
  leastWidth?: number;
  stderr?: RegExp;
  /** The files that it leaves: path, and the least size or the exact number of pixels of a side. */
  leaves?: [path: string, atLeast: { bytes?: number; width?: number }][];
  notes?: RegExp;
}

const PLT = 'import matplotlib.pyplot as plt\n';
const NP = 'import numpy as np\n';
const PD =
  'import pandas as pd\ndf = pd.DataFrame({"city": ["Bonn", "Kyiv", "Oslo"], "n": [3, 1, 2], "x": [0.5, 1.5, 2.5]})\n';

export const SNIPPETS: DisplaySnippet[] = [
  {
    name: 'plt.plot and plt.show',
    code: `${PLT}plt.plot([1, 4, 9])\nplt.show()`,
    shows: ['png'],
    chart: 'line',
    elements: [
      {
        label: null,
        points: [
          [0, 1],
          [1, 4],
          [2, 9],
        ],
      },
    ],
    stderr: /^$/,
  },
  { name: 'no plt.show', code: `${PLT}plt.plot([1, 4, 9])\nplt.title("t")`, shows: ['png'], chart: 'line' },
  {
    name: 'two figures, two shows',
    code: `${PLT}plt.plot([1])\nplt.show()\nprint("between")\nplt.bar(["a"], [1])\nplt.show()`,
    shows: ['png', 'png'],
    prints: 'between\n',
  },
  {
    name: 'two figures, one show',
    code: `${PLT}plt.figure()\nplt.plot([1])\nplt.figure()\nplt.plot([2])\nplt.show()`,
    shows: ['png', 'png'],
  },
  {
    name: 'subplots',
    code: `${PLT}fig, axes = plt.subplots(2, 2, figsize=(10, 8))\naxes[0, 0].plot([1, 2])\naxes[0, 1].bar(["a", "b"], [1, 2])\naxes[1, 0].scatter([1, 2], [3, 4])\naxes[1, 1].pie([1, 2], labels=["p", "q"])\nfig.suptitle("All")\nplt.tight_layout()\nplt.show()`,
    shows: ['png'],
    chart: 'superchart',
  },
  {
    name: 'fig as the last expression',
    code: `${PLT}fig, ax = plt.subplots()\nax.plot([1, 2])\nfig`,
    shows: ['png'],
  },
  {
    name: 'display(fig) and a changed figure',
    code: `${PLT}fig, ax = plt.subplots()\nax.plot([1, 2])\ndisplay(fig)\nax.set_title("later")\nprint(1)`,
    shows: ['png', 'png'],
  },
  { name: 'fig.show()', code: `${PLT}fig, ax = plt.subplots()\nax.plot([1, 2])\nfig.show()`, shows: ['png'] },
  {
    name: 'a figure is drawn once',
    code: `${PLT}from matplotlib.lines import Line2D\nclass Counted(Line2D):\n    drawn = 0\n    def draw(self, renderer):\n        Counted.drawn += 1\n        super().draw(renderer)\nplt.gca().add_line(Counted([0, 1], [0, 1]))\nplt.show()\nprint(Counted.drawn)`,
    shows: ['png'],
    prints: '1\n',
  },
  {
    name: 'a figure with empty borders',
    code: `${PLT}plt.figure(figsize=(8, 8))\nplt.axes([0.4, 0.4, 0.2, 0.2]).plot([1, 2])\nplt.show()`,
    shows: ['png'],
    widest: 250,
    leastWidth: 160,
  },
  {
    name: 'a figure with a text beside it',
    code: `${PLT}plt.figure(figsize=(2, 2))\nplt.text(3, 0.5, "far")\nplt.show()`,
    shows: ['png'],
    leastWidth: 400,
  },
  {
    name: 'a large figure',
    code: `${PLT}plt.figure(figsize=(40, 20), dpi=300)\nplt.plot([1, 2])\nplt.show()`,
    shows: ['png'],
    widest: 1000,
    leaves: [['figure-1.png', { width: 3000 }]],
  },
  {
    name: 'a tall figure',
    code: `${PLT}plt.figure(figsize=(5, 60))\nplt.plot([1, 2])\nplt.show()`,
    shows: ['png'],
    widest: 1500,
  },
  {
    name: 'savefig alone',
    code: `${PLT}import os\nplt.plot([1, 2])\nplt.savefig("a.png")\nplt.close()\nprint(os.path.getsize("a.png") > 1000)`,
    shows: [],
    prints: 'True\n',
  },
  {
    name: 'Agg and savefig',
    code: `import matplotlib\nmatplotlib.use("Agg")\n${PLT}plt.plot([1, 2])\nplt.savefig("a.png")\nprint(plt.get_backend().lower())`,
    shows: [],
    prints: 'agg\n',
  },
  {
    name: 'the object-oriented way',
    code: `from matplotlib.figure import Figure\nfig = Figure()\nfig.subplots().plot([1, 2])\ndisplay(fig)`,
    shows: ['png'],
    chart: 'line',
  },
  {
    name: 'a histogram',
    code: `${PLT}${NP}plt.hist(np.random.default_rng(0).normal(size=500), bins=20)\nplt.show()`,
    shows: ['png'],
    chart: 'bar',
  },
  {
    name: 'bars with groups',
    code: `${PLT}${NP}x = np.arange(2)\nplt.bar(x - 0.2, [1, 2], 0.4, label="a")\nplt.bar(x + 0.2, [3, 4], 0.4, label="b")\nplt.xticks(x, ["one", "two"])\nplt.legend()\nplt.show()`,
    shows: ['png'],
    chart: 'bar',
    elements: [
      { label: 'one', group: 'a', value: 1 },
      { label: 'two', group: 'a', value: 2 },
      { label: 'one', group: 'b', value: 3 },
      { label: 'two', group: 'b', value: 4 },
    ],
  },
  {
    name: 'horizontal bars',
    code: `${PLT}plt.barh(["a", "b"], [3, 4])\nplt.show()`,
    shows: ['png'],
    chart: 'bar',
    elements: [
      { label: 'a', value: 3 },
      { label: 'b', value: 4 },
    ],
  },
  {
    name: 'points with colors',
    code: `${PLT}${NP}plt.scatter(np.arange(5), np.arange(5), c=np.arange(5), s=80)\nplt.colorbar()\nplt.show()`,
    shows: ['png'],
  },
  {
    name: 'a pie',
    code: `${PLT}plt.pie([30, 70], labels=["no", "yes"], autopct="%1.0f%%")\nplt.show()`,
    shows: ['png'],
    chart: 'pie',
    elements: [
      { label: 'no', share: 0.3 },
      { label: 'yes', share: 0.7 },
    ],
  },
  {
    name: 'an image',
    code: `${PLT}${NP}plt.imshow(np.zeros((20, 20)))\nplt.show()`,
    shows: ['png'],
    chart: null,
  },
  {
    name: 'dates',
    code: `${PLT}import datetime\nplt.plot([datetime.date(2026, 1, day) for day in (1, 2, 3)], [1, 2, 3])\nplt.gcf().autofmt_xdate()\nplt.show()`,
    shows: ['png'],
    chart: 'line',
    elements: [
      {
        points: [
          ['2026-01-01', 1],
          ['2026-01-02', 2],
          ['2026-01-03', 3],
        ],
      },
    ],
  },
  {
    name: 'three dimensions',
    code: `${PLT}fig = plt.figure()\nax = fig.add_subplot(projection="3d")\nax.plot([1, 2], [1, 2], [1, 2])\nplt.show()`,
    shows: ['png'],
    chart: null,
  },
  {
    name: 'a style and another font',
    code: `${PLT}plt.style.use("ggplot")\nplt.rcParams["font.family"] = "Arial"\nplt.plot([1, 2])\nplt.title("ż")\nplt.show()`,
    shows: ['png'],
    stderr: /^$/,
  },
  {
    name: 'a loop of figures',
    code: `${PLT}for i in range(12):\n    plt.plot([i, 1])\n    plt.show()\n    print(i)`,
    shows: Array<string>(12).fill('png'),
  },
  {
    name: 'an animation by clear_output',
    code: `${PLT}from IPython.display import clear_output\nfor i in range(10):\n    clear_output(wait=True)\n    plt.plot([i, 1])\n    plt.show()`,
    shows: ['png'],
  },
  {
    name: 'an exception after a plot',
    code: `${PLT}plt.plot([1, 2])\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    print("end")`,
    shows: ['png'],
    prints: 'end\n',
  },
  {
    name: 'interactive mode',
    code: `${PLT}plt.ion()\nplt.plot([1, 2])\nplt.draw()\nplt.pause(0.01)\nplt.ioff()\nplt.show()`,
    shows: ['png'],
  },
  {
    name: 'a figure that is empty',
    code: `${PLT}plt.figure()\nplt.show()\nprint("none")`,
    shows: [],
    prints: 'none\n',
  },
  { name: 'pyplot imported for nothing', code: `${PLT}print("none")`, shows: [], prints: 'none\n' },
  { name: 'a frame as the last expression', code: `${PD}df`, shows: ['html'], prints: '' },
  {
    name: 'display(df)',
    code: `${PD}print("Frame:")\ndisplay(df)\nprint("end")`,
    shows: ['html'],
    prints: /^Frame:\n +city +n +x\n0 +Bonn[\s\S]*end\n$/,
  },
  {
    name: 'display(df.head()) twice',
    code: `${PD}display(df.head(1))\ndisplay(df.describe())`,
    shows: ['html', 'html'],
  },
  { name: 'a styled frame', code: `${PD}df.style.background_gradient()`, shows: ['html'] },
  { name: 'a series', code: `${PD}df["n"]`, shows: [], prints: '' },
  {
    name: 'df.plot()',
    code: `${PD}df.plot(x="city", y="n", kind="bar")`,
    shows: ['png'],
    chart: 'bar',
    elements: [
      { label: 'Bonn', value: 3 },
      { label: 'Kyiv', value: 1 },
      { label: 'Oslo', value: 2 },
    ],
  },
  { name: 'df.hist()', code: `${PD}df.hist()`, shows: ['png'] },
  {
    name: 'seaborn',
    code: `${PD}import seaborn as sns\nsns.set_theme()\nsns.barplot(data=df, x="city", y="n")`,
    shows: ['png'],
  },
  {
    name: 'seaborn heatmap',
    code: `${PD}${PLT}import seaborn as sns\nsns.heatmap(df[["n", "x"]].corr(), annot=True)\nplt.show()`,
    shows: ['png'],
  },
  { name: 'seaborn pairplot', code: `${PD}import seaborn as sns\nsns.pairplot(df)`, shows: ['png'] },
  {
    name: 'Pillow show',
    code: 'from PIL import Image\nImage.new("RGB", (60, 40), "red").show()',
    shows: ['png'],
  },
  {
    name: 'a Pillow image as the last expression',
    code: 'from PIL import Image\nImage.new("RGBA", (60, 40))',
    shows: ['png'],
  },
  {
    name: 'a large photo',
    code: `${NP}from PIL import Image\nImage.fromarray(np.random.default_rng(0).integers(0, 255, (3000, 4000, 3), "uint8")).show()`,
    shows: ['jpeg'],
    widest: 1000,
  },
  {
    name: 'a Pillow image of another mode',
    code: 'from PIL import Image\ndisplay(Image.new("CMYK", (6, 4)), Image.new("F", (6, 4)), Image.new("P", (3000, 20)))',
    shows: ['png', 'png', 'png'],
  },
  {
    name: 'a large PNG file',
    code: `${NP}from PIL import Image as I\nI.fromarray(np.random.default_rng(0).integers(0, 255, (1000, 2500, 3), "uint8")).save("a.png")\nfrom IPython.display import Image\nImage("a.png", width=300)`,
    shows: ['png'],
    widest: 1000,
  },
  {
    name: 'plotly express',
    code: 'import plotly.express as px\nfig = px.scatter(x=[1, 2], y=[3, 4], title="PX")\nfig.show()',
    shows: ['plotly'],
    prints: "<plotly figure 'PX': 1 trace (scatter)>\n",
  },
  {
    name: 'plotly objects',
    code: 'import plotly.graph_objects as go\nfig = go.Figure(data=[go.Bar(y=[1, 2]), go.Scatter(y=[2, 1])])\nfig.update_layout(title="Two")\nfig',
    shows: ['plotly'],
    prints: "<plotly figure 'Two': 2 traces (bar, scatter)>\n",
  },
  {
    name: 'plotly in the renderers of notebooks and browsers',
    code: 'import plotly.io as pio\nimport plotly.graph_objects as go\nfig = go.Figure(go.Bar(y=[1]))\nfor name in "plotly_mimetype+notebook", "colab", "iframe", "browser", "json":\n    pio.renderers.default = name\n    fig.show()\nfig.show(renderer="vscode")',
    shows: Array(6).fill('plotly'),
  },
  {
    name: 'plotly of older notebooks',
    code: 'from plotly.offline import init_notebook_mode, iplot\nimport plotly.graph_objects as go\ninit_notebook_mode(connected=True)\niplot(go.Figure(go.Bar(y=[1])))',
    shows: ['plotly'],
  },
  {
    name: 'Pillow images of every mode',
    code: 'from PIL import Image\nfor mode in "1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "I", "F", "LA", "PA", "I;16", "RGBa", "La":\n    display(Image.new(mode, (8, 8)))',
    shows: Array(15).fill('png'),
  },
  {
    name: 'a backend for files, and plt.show',
    code: `import matplotlib\nmatplotlib.use("svg")\n${PLT}plt.plot([1, 2])\nplt.savefig("a.svg")\nplt.show()`,
    shows: ['png'],
  },
  {
    name: 'a styled frame',
    code: `${PD}display(df.head(1).style.format(precision=1))`,
    shows: ['html'],
    prints: '| city | n | x\n0 | Bonn | 3 | 0.5\n',
  },
  {
    name: 'an animation as the last expression is named once',
    code: `${PLT}from matplotlib.animation import FuncAnimation\nfig, ax = plt.subplots()\nline, = ax.plot([0], [0])\nFuncAnimation(fig, lambda i: line.set_data([0, i], [0, i]), frames=2)`,
    shows: ['png'],
    prints: '',
  },
  {
    name: 'plotly iplot',
    code: 'import plotly.io as pio\nimport plotly.graph_objects as go\npio.show(go.Figure(data=[go.Pie(values=[1, 2])]))',
    shows: ['plotly'],
  },
  {
    name: 'sympy',
    code: 'import sympy as sp\nx = sp.symbols("x")\ndisplay(sp.Integral(x**2, x))\nsp.sqrt(x)',
    shows: ['latex', 'latex'],
    prints: 'Integral(x**2, x)\n',
  },
  {
    name: 'altair',
    code: `${PD}import altair as alt\nalt.Chart(df).mark_bar().encode(x="city", y="n")`,
    shows: ['html'],
  },
  {
    name: 'HTML and Markdown',
    code: 'from IPython.display import HTML, Markdown, display\ndisplay(HTML("<h1>Hi</h1>"))\ndisplay(Markdown("**b**"))',
    shows: ['html', 'markdown'],
    prints: 'Hi\n**b**\n',
  },
  {
    name: 'SVG, Latex, JSON',
    code: 'from IPython.display import SVG, Latex, JSON\ndisplay(SVG("<svg xmlns=\'http://www.w3.org/2000/svg\'/>"), Latex("$x$"), JSON({"a": 1}))',
    shows: ['svg', 'latex', 'json'],
  },
  {
    name: 'a handle',
    code: 'from IPython.display import display, HTML\nh = display(HTML("0%"), display_id=True)\nfor i in range(3):\n    h.update(HTML(f"{i}%"))',
    shows: ['html'],
  },
  {
    name: 'a plot in a function and a thread',
    code: `import matplotlib\n${PLT}import threading\ndef draw():\n    fig, ax = plt.subplots()\n    ax.plot([1])\n    display(fig)\n    plt.close(fig)\nt = threading.Thread(target=draw)\nt.start()\nt.join()`,
    shows: ['png'],
  },
  {
    name: 'a plot in another process',
    code: `import multiprocessing as mp\n${PLT}def draw(n):\n    plt.plot([n])\n    plt.savefig(f"{n}.png")\n    plt.show()\n    return n\nif __name__ == "__main__":\n    with mp.get_context("fork").Pool(2) as pool:\n        print(pool.map(draw, [1, 2]))`,
    shows: [],
    prints: /\[1, 2\]\n$/,
  },
  {
    name: 'another interpreter that plots',
    code: 'import subprocess, sys\nopen("p.py", "w").write("import matplotlib.pyplot as plt\\nplt.plot([1])\\nplt.show()\\nprint(1)")\nprint(subprocess.run([sys.executable, "p.py"], capture_output=True, text=True).stdout)',
    shows: [],
    prints: '1\n\n',
  },
  {
    name: 'a series of dates',
    code: 'import pandas as pd\npd.Series([1, 2], index=pd.date_range("2026-01-01", periods=2)).plot()',
    shows: ['png'],
    chart: 'line',
    elements: [
      {
        points: [
          ['2026-01-01', 1],
          ['2026-01-02', 2],
        ],
      },
    ],
  },
  {
    name: 'two million points',
    code: `${PLT}${NP}plt.plot(np.arange(2_000_000), label="many")\nplt.show()`,
    shows: ['png'],
    chart: 'line',
    elements: [{ label: 'many', total: 2_000_000 }],
  },
  {
    name: 'Agg and plt.show',
    code: `import matplotlib\nmatplotlib.use("Agg")\n${PLT}plt.plot([1, 2])\nplt.show()`,
    shows: ['png'],
    stderr: /^$/,
  },
  {
    name: 'Agg and a figure that stays open',
    code: `import matplotlib\nmatplotlib.use("Agg")\n${PLT}plt.plot([1, 2])`,
    shows: [],
  },
  { name: 'pylab', code: 'from pylab import *\nplot([1, 2])\nshow()', shows: ['png'] },
  {
    name: 'a handle of a figure and of an image',
    code: `${PLT}from PIL import Image\nfig, ax = plt.subplots()\nax.plot([1])\nh = display(fig, display_id=True)\nax.set_title("2")\nh.update(fig)\nk = display(Image.new("L", (4, 4)), display_id=True)\nk.update(Image.new("L", (5, 5)))`,
    shows: ['png', 'png'],
  },
  {
    name: 'a photo is left in its size',
    code: `from PIL import Image\nimport os\nImage.frombytes("RGB", (3000, 2000), os.urandom(18_000_000)).show()`,
    shows: ['jpeg'],
    widest: 1000,
    leaves: [['figure-1.jpg', { width: 3000 }]],
  },
  {
    name: 'a large PNG of the script is left as it is',
    code: `from PIL import Image\nimport io, os\ndata = io.BytesIO()\nImage.frombytes("RGB", (3000, 300), os.urandom(2_700_000)).save(data, "PNG")\ndisplay({"image/png": data.getvalue()}, raw=True)`,
    shows: ['png'],
    widest: 1000,
    leaves: [['figure-1.png', { bytes: 2_700_000, width: 3000 }]],
  },
  {
    name: 'a frame of a hundred thousand cells is left whole',
    code: `import pandas as pd\npd.DataFrame({"a": range(100_000)})`,
    shows: ['html'],
    leaves: [
      ['display-1.html', {}],
      ['display-1.csv', { bytes: 1_100_000 }],
    ],
  },
  {
    name: 'a frame of polars',
    code: `import polars as pl\ndisplay(pl.DataFrame({"a": ["ä"]}))\npl.DataFrame({"a": range(100_000)})`,
    shows: ['html', 'html'],
    prints: /ä/,
    leaves: [
      ['display-1.html', {}],
      ['display-1.csv', { bytes: 5 }],
      ['display-2.html', {}],
      ['display-2.csv', { bytes: 500_000 }],
    ],
  },
  {
    name: 'a PNG that would unpack to gigabytes is named, and nothing else happens',
    code: `import struct, zlib\ndef chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))\npng = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(10_000_000))) + chunk(b"IEND", b"")\ndisplay({"image/png": png, "text/plain": "bomb"}, raw=True)`,
    shows: ['text/plain'],
    prints: 'bomb\n',
    notes: /image\/png: it cannot be encoded/,
  },
];
