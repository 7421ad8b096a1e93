# attack: namespaces_again
# threat: privilege
# expect: CONTAINED: no new namespace of any kind, in any spelling of the flags
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
L = ctypes.c_ulong
ok = []
kinds = {"mount": 0x00020000, "cgroup": 0x02000000, "uts": 0x04000000, "ipc": 0x08000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000, "time": 0x80}
def call(name, number, *arguments):
    result = libc.syscall(L(number), *arguments)
    if result == 0 and number in (56, 435):
        os._exit(0)
    if result >= 0:
        ok.append(name)
for name, flag in kinds.items():
    call("unshare " + name, 272, L(flag))
    # The kernel takes 32 bits of these: a filter that compares all 64 lets them through.
    call("unshare high " + name, 272, L(flag | 1 << 40))
    if flag != 0x80:
        call("clone " + name, 56, L(flag | 17), L(0), L(0), L(0), L(0))
        call("clone high " + name, 56, L(flag | 17 | 1 << 33), L(0), L(0), L(0), L(0))
    packed = ctypes.create_string_buffer(struct.pack("11Q", flag, 0, 0, 0, 17 if flag != 0x80 else 0, 0, 0, 0, 0, 0, 0))
    call("clone3 " + name, 435, packed, L(88))
for name, flag in (("user+thread files", 0x10000000 | 0x400), ("user+mount", 0x10020000), ("user+net", 0x50000000), ("newns+fs", 0x00020000 | 0x200)):
    call("unshare " + name, 272, L(flag))
print("ESCAPED" if ok else "CONTAINED", ok)
