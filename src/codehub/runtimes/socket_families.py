"""The kinds of sockets that a workspace may make, whatever it runs on.

Those of the network namespace that it has to itself, and those between processes. All others are ways to the kernel's
lesser known parts, and some, such as its cryptography (`AF_ALG`) and the hypervisor (`AF_VSOCK`), no network namespace
holds back."""

from socket import AF_INET, AF_INET6, AF_NETLINK, AF_UNIX

ALLOWED = (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK)
