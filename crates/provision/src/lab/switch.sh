# What joins the nodes: its folder, then the sites. Each has a bridge; all are joined to the first.
set -e
folder=$1
shift
for site in "$@"; do
    ip link add "$site" type bridge
    ip link set "$site" up
    if [ "$site" != "$1" ]; then
        ip link add "to-$site" type veth peer name "of-$site"
        ip link set "to-$site" master "$1" up
        ip link set "of-$site" master "$site" up
    fi
done
echo $$ >"$folder/pid.part"
mv "$folder/pid.part" "$folder/pid"
exec sleep infinity
