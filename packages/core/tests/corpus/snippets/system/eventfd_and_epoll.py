import os, select
with select.epoll() as poll:
    r, w = os.pipe()
    poll.register(r, select.EPOLLIN)
    print(poll.poll(0)); os.write(w, b"x"); print(poll.poll(5) == [(r, select.EPOLLIN)])
print(len(select.select([r], [], [], 0)[0]), os.get_blocking(r))
