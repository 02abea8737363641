# packages: ["jinja2"]
from jinja2 import Environment, StrictUndefined, Template
print(Template("{% for u in users %}{{ loop.index }}. {{ u.name|title }}\n{% endfor %}").render(users=[{"name": "ada"}, {"name": "bob"}]))
env = Environment(undefined=StrictUndefined, autoescape=True)
print(env.from_string("<p>{{ x }}</p>").render(x="<b>"))
env.from_string("{{ missing }}").render()
