import xml.etree.ElementTree as ET
root = ET.fromstring("<shop><item id='1'>Tea<price>3</price></item><item id='2'/></shop>")
print([item.get("id") for item in root.iter("item")], root.find("item/price").text, root[0].tail)
ET.SubElement(root, "item", id="3").text = "Käse & <more>"
ET.indent(root)
print(ET.tostring(root, encoding="unicode"))
try:
    ET.fromstring("<a><b></a>")
except ET.ParseError as error:
    print(error, error.position)
