"""The system calls a sandboxed bot is refused, by name, with their numbers.

A name maps to its number on x86-64 and on aarch64; None where the machine has no such call.
"""

from __future__ import annotations

Numbers = dict[str, tuple[int, int | None]]

MACHINES = ("x86_64", "aarch64")
"""Which number is whose."""

BOTH: Numbers = {
    # Other processes: their memory, descriptors and pages.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Mounts, namespaces and handles that lead around them.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # Keyrings are shared by all processes of a user, across namespaces.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Large parts of the kernel that no bot needs.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "memfd_secret": (447, 447),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "lookup_dcookie": (212, 18),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "nfsservctl": (180, 42),
    # The machine: its clock, names, disks and ports.
    "iopl": (172, None),
    "ioperm": (173, None),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    # Two bots read the same files of the system: who watches or locks one would tell the other.
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
}
"""Refused at every level, with "operation not permitted"."""

SHARED: Numbers = {
    # What namespaces keep apart: messages, semaphores and memory of System V and POSIX.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # Sockets with a path are not closed by Landlock: a bot is asked, and asks nobody.
    "connect": (42, 203),
    # Nor is what is noted of a file beside its content.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # How much of the processor others get.
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""Refused as well where there are no namespaces."""

ABSENT: Numbers = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # These show or change the content of the page cache. A kernel may be built without them,
    # so programs do without them.
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "cachestat": (451, 451),
    "mincore": (27, 232),
    "remap_file_pages": (216, 234),
    "process_madvise": (440, 440),
    "userfaultfd": (323, 282),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "io_pgetevents": (333, 292),
    # Its flags lie in memory, where a filter cannot look; who finds it absent uses clone.
    "clone3": (435, 435),
}
"""Said not to exist: programs that try these do without."""

ASKED: Numbers = {
    "fcntl": (72, 25),
    "flock": (73, 32),
    "clone": (56, 220),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "personality": (135, 92),
    "prlimit64": (302, 261),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "madvise": (28, 233),
    "mmap": (9, 222),
}
"""Those whose arguments decide."""
