import smtplib, socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    connection, _ = server.accept()
    file = connection.makefile("rw", newline="\r\n")
    def say(text): file.write(text + "\n"); file.flush()
    say("220 ready")
    while line := file.readline():
        verb = line.split()[0].upper()
        if verb == "DATA":
            say("354 go on")
            while file.readline().strip() != ".": pass
        say("221 bye" if verb == "QUIT" else "250 ok")
        if verb == "QUIT": break
    connection.close()
threading.Thread(target=serve, daemon=True).start()
with smtplib.SMTP("127.0.0.1", server.getsockname()[1], local_hostname="me") as smtp:
    print(smtp.sendmail("a@x.org", ["b@y.org"], "Subject: hi\r\n\r\nbody"))
