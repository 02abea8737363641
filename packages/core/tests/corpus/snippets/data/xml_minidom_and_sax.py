import xml.dom.minidom, xml.sax
print(xml.dom.minidom.parseString("<a><b>1</b></a>").toprettyxml(indent="  "))
class Handler(xml.sax.ContentHandler):
    def startElement(self, name, attributes): print("start", name, dict(attributes))
    def endElement(self, name): print("end", name)
xml.sax.parseString(b"<x y='1'><z/></x>", Handler())
