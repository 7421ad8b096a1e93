"""System calls that the filter refuses, by machine."""

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Name, number on x86_64, number on aarch64; arguments that are harmless if the call is let through.
REFUSED = """
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, fsopen 430 430, move_mount 429 429
mount_setattr 442 442, open_tree 428 428, unshare 272 97, setns 308 268, clone3 435 435
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440
kcmp 312 272, pidfd_getfd 438 438, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, io_setup 206 0
vmsplice 278 75, landlock_create_ruleset 444 444, seccomp 317 277, keyctl 250 219, add_key 248 217
request_key 249 218, shmget 29 194, semget 64 190, msgget 68 186, mq_open 240 180
memfd_create 319 279, memfd_secret 447 447, inotify_init1 294 26, fanotify_init 300 262
cachestat 451 451, name_to_handle_at 303 264, open_by_handle_at 304 265, statmount 457 457
sync 162 81, syncfs 306 267, mbind 237 235, move_pages 279 239, migrate_pages 256 238
set_mempolicy 238 237, sched_setattr 314 274, sched_setscheduler 144 119, sched_setparam 142 118
ioprio_set 251 30, init_module 175 105, finit_module 313 273, delete_module 176 106
kexec_load 246 104, kexec_file_load 320 294, reboot 169 142, swapon 167 224, swapoff 168 225
quotactl 179 60, acct 163 89, settimeofday 164 170, clock_settime 227 112, adjtimex 159 171
clock_adjtime 305 266, sethostname 170 161, setdomainname 171 162, syslog 103 116, vhangup 153 58
lookup_dcookie 212 18, modify_ldt 154 -, iopl 172 -, ioperm 173 -, remap_file_pages 216 234
pkey_alloc 330 289, a_call_to_come 999 999
"""


def refused(machine):
    rows = [row.split() for line in REFUSED.splitlines() for row in line.split(",") if row]
    column = 1 if machine == "x86_64" else 2
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}
