# A node: its folder, its name, its address, its site, the process that holds the switch.
set -e
mount --make-rprivate /
mount --bind "$1/lib" /var/lib/glusterd
mount --bind "$1/log" /var/log/glusterfs
mount -t tmpfs tmpfs /run
mkdir /run/gluster
# Counters of the own network's ports.
mount -t sysfs sysfs /sys || true
hostname "$2"
ip link set lo up
ip link add e0 type veth peer name "$2" netns "$5"
ip address add "$3/24" dev e0
ip link set e0 up
nsenter --net="/proc/$5/ns/net" ip link set "$2" master "$4" up
glusterd --log-level WARNING -p /run/glusterd.pid
echo $$ >"$1/pid.part"
mv "$1/pid.part" "$1/pid"
exec sleep infinity
