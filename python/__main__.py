from pungi.fork_server import main

main()
