"""The system calls that runs may make, and the reasons for refusing others: a call that is not listed does not exist for a run.

Found by tracing Python and its packages (scripts/trace_system_calls.py); older and newer spellings of the same call, for
another libc or architecture, are on the list with it. Numbers are (x86_64, aarch64); None if the architecture has no such
call. call_arguments.py has the arguments that they may have.
"""

import errno

ATTRIBUTES = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}

# {purpose: {call: numbers}}.
ALLOWED = {
    "Read, write and copy what is open.": {
        "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "pwrite64": (18, 68),
        "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286), "pwritev2": (328, 287), "lseek": (8, 62),
        "open": (2, None), "creat": (85, None), "openat": (257, 56), "close": (3, 57), "close_range": (436, 436),
        "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59), "fcntl": (72, 25),
        "ioctl": (16, 29), "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46), "truncate": (76, 45),
        "fallocate": (285, 47), "fadvise64": (221, 223), "copy_file_range": (326, 285), "umask": (95, 166),
    },
    "Look at files and folders, make, name and remove them.": {
        "stat": (4, None), "fstat": (5, 80), "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291),
        "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, None),
        "readlinkat": (267, 78), "getdents": (78, None), "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49),
        "fchdir": (81, 50), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None),
        "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None),
        "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36), "statfs": (137, 43), "fstatfs": (138, 44),
        "mknod": (133, None), "mknodat": (259, 33), "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10),
        "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13),
    },
    "Change modes, owners, times and extended attributes of files.": ATTRIBUTES,
    "Have memory.": {
        "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216),
        "madvise": (28, 233), "msync": (26, 227), "mincore": (27, 232),
    },
    "Start processes and threads, wait for them, signal them and end.": {
        "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
        "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260), "waitid": (247, 95), "set_tid_address": (218, 96),
        "set_robust_list": (273, 99), "rseq": (334, 293), "futex": (202, 98), "arch_prctl": (158, None), "prctl": (157, 167),
        "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "pidfd_open": (434, 434),
        "pidfd_send_signal": (424, 424), "setpgid": (109, 154), "setsid": (112, 157), "personality": (135, 92),
    },
    "Know who and where one is.": {
        "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getpgid": (121, 155), "getpgrp": (111, None),
        "getsid": (124, 156), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
        "getgroups": (115, 158), "getresuid": (118, 148), "getresgid": (120, 150), "sysinfo": (99, 179), "uname": (63, 160),
        "capget": (125, 90), "getrandom": (318, 278),
    },
    "Share the processors, and know and lower the own limits.": {
        "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "sched_setaffinity": (203, 122),
        "sched_getscheduler": (145, 120), "sched_getparam": (143, 121), "sched_get_priority_max": (146, 125),
        "sched_get_priority_min": (147, 126), "sched_rr_get_interval": (148, 127), "getpriority": (140, 141),
        "setpriority": (141, 140), "getcpu": (309, 168), "getrlimit": (97, 163), "setrlimit": (160, 164),
        "prlimit64": (302, 261), "getrusage": (98, 165), "times": (100, 153),
    },
    "Handle signals.": {
        "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
        "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "restart_syscall": (219, 128),
        "pause": (34, None), "alarm": (37, None), "setitimer": (38, 103), "getitimer": (36, 102),
    },
    "Read clocks and sleep.": {
        "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
        "gettimeofday": (96, 169), "time": (201, None), "timerfd_create": (283, 85), "timerfd_settime": (286, 86),
        "timerfd_gettime": (287, 87),
    },
    "Wait for descriptors.": {
        "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "epoll_create": (213, None),
        "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
        "epoll_pwait2": (441, 441), "eventfd": (284, None), "eventfd2": (290, 19),
    },
    # sendmsg also passes descriptors, which a filter cannot see: multiprocessing's forkserver and asyncio need it.
    "Talk through sockets.": {
        "socket": (41, 198), "socketpair": (53, 199), "bind": (49, 200), "connect": (42, 203), "listen": (50, 201),
        "accept": (43, 202), "accept4": (288, 242), "getsockname": (51, 204), "getpeername": (52, 205), "sendto": (44, 206),
        "recvfrom": (45, 207), "sendmsg": (46, 211), "recvmsg": (47, 212), "shutdown": (48, 210), "setsockopt": (54, 208),
        "getsockopt": (55, 209),
    },
}

# Why: (errno, {call: numbers}). Only calls that deserve an answer other than ENOSYS, or a reason, are listed.
REFUSED = {
    "They look into other processes.": (errno.EPERM, {
        "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
        "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448), "move_pages": (279, 239),
        "migrate_pages": (256, 238), "get_robust_list": (274, 100),
    }),
    "They take more of the processor, the disk or the memory than others get.": (errno.EPERM, {
        "ioprio_set": (251, 30), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
        "mlock": (149, 228), "mlock2": (325, 284), "mlockall": (151, 230),
    }),
    "They change identities, namespaces and mounts.": (errno.EPERM, {
        "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143), "setresuid": (117, 147),
        "setresgid": (119, 149), "setgroups": (116, 159), "setfsuid": (122, 151), "setfsgid": (123, 152), "capset": (126, 91),
        "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
        "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467),
        "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
        "mount_setattr": (442, 442), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
        "quotactl": (179, 60), "quotactl_fd": (443, 443), "swapon": (167, 224), "swapoff": (168, 225),
    }),
    "They reach parts of the kernel that exploits start with.": (errno.EPERM, {
        "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
        "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "keyctl": (250, 219), "add_key": (248, 217),
        "request_key": (249, 218), "modify_ldt": (154, None), "uselib": (134, None), "memfd_secret": (447, 447),
    }),
    "They administer the machine.": (errno.EPERM, {
        "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
        "delete_module": (176, 106), "syslog": (103, 116), "reboot": (169, 142), "acct": (163, 89), "nfsservctl": (180, 42),
        "lookup_dcookie": (212, 18), "iopl": (172, None), "ioperm": (173, None), "_sysctl": (156, None),
        "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
        "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    }),
    "They use up what all of the machine, or all of a user, share.": (errno.EPERM, {
        "io_setup": (206, 0), "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
        "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "file_setattr": (469, 469), "timer_create": (222, 107),
        "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "syncfs": (306, 267),
    }),
    "Rule sets and filters are kernel memory that descriptors keep; filters also use up the machine's BPF memory.": (errno.EPERM, {
        "seccomp": (317, 277), "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
        "landlock_restrict_self": (446, 446),
    }),
    "It writes back the files of the whole machine. Its callers expect no error, so it does nothing.": (0, {"sync": (162, 81)}),
    "They hold memory that no process shows. Libraries have another way.": (errno.ENOSYS, {
        "memfd_create": (319, 279), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
        "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    }),
    "One byte of a page in a pipe or socket keeps the whole (huge) page, which no process then shows.": (errno.ENOSYS, {
        "splice": (275, 76), "tee": (276, 77), "vmsplice": (278, 75),
    }),
    # The only answer on which all of shutil, socket, asyncio and pathlib read and write instead.
    "The same, from a file into a pipe or socket.": (errno.ENOTSOCK, {"sendfile": (40, 71)}),
    # Without data, supervisors take locks for their runs (file_gate.py). On ENOSYS HDF5 and filelock go on without locks.
    "A lock on a file that can only be read makes programs of the host wait.": (errno.ENOSYS, {"flock": (73, 32)}),
    # libc then uses clone.
    "Its flags are behind a pointer, where no filter can see them.": (errno.ENOSYS, {"clone3": (435, 435)}),
    "It passes descriptors, and only libc's resolver has a use for it.": (errno.ENOSYS, {"sendmmsg": (307, 269)}),
}

NUMBERS = {
    name: numbers
    for group in (*ALLOWED.values(), *(calls for _, calls in REFUSED.values()))
    for name, numbers in group.items()
}
ARCHITECTURES = ("x86_64", "aarch64")
