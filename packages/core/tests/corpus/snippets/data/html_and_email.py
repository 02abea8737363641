import email, html
from email.message import EmailMessage
from html.parser import HTMLParser
class Links(HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag == "a": print("link", dict(attributes)["href"])
Links().feed('<p>See <a href="/x?a=1&amp;b=2">this</a></p>')
print(html.escape("<a & 'b'>"), html.unescape("&eacute;&#9731;"))
message = EmailMessage()
message["Subject"], message["From"], message["To"] = "Grüße", "a@example.org", "b@example.org"
message.set_content("Hello\n")
message.add_attachment(b"data", maintype="application", subtype="octet-stream", filename="x.bin")
parsed = email.message_from_string("Subject: Hi\nFrom: x@y.z\n\nBody")
print(message["Subject"], [part.get_content_type() for part in message.walk()], parsed["from"], parsed.get_payload())
