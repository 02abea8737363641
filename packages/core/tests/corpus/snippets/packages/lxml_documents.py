# packages: ["lxml"]
# long: true
from lxml import etree, html
tree = etree.fromstring("<a><b x='1'>t</b><b x='2'/></a>")
print(tree.xpath("//b[@x='1']/text()"), etree.tostring(tree, pretty_print=True).decode(), html.fromstring("<p>Hi <b>you</b>").text_content())
try:
    etree.fromstring("<a><b></a>")
except etree.XMLSyntaxError as error:
    print(error)
