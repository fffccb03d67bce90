/** Wrappers with options that have a value, after which the command follows; `{}` stands for the option. */
const OPTIONS: Record<string, string> = {
  "exec {} rm -rf x": "-a",
  "env {} rm -rf x": "-u -C --unset --chdir",
  "nice {} rm -rf x": "-n --adjustment",
  "stdbuf {} rm -rf x": "-i -o -e --input --output --error",
  "/usr/bin/time {} rm -rf x": "-f -o --format --output",
  "gtime {} rm -rf x": "-f -o --format --output",
  "timeout {} 10 rm -rf x": "-k -s --kill-after --signal",
  "gtimeout {} 10 rm -rf x": "-k -s --kill-after --signal",
  "ionice {} rm -rf x": "-c -n --class --classdata",
  "flock {} lock rm -rf x": "-w -E --timeout --conflict-exit-code",
  "strace {} rm -rf x": "-o -e -p -E -s -u -P -a -I -b -S -X -U",
  "ltrace {} rm -rf x": "-o -e -p -s -u -n -a -A -l -x",
  "fakeroot {} rm -rf x": "-l -s -i -b",
  "caffeinate {} rm -rf x": "-t -w",
  "rlwrap {} rm -rf x": "-f -H -s -D -b -C",
  "xvfb-run {} rm -rf x": "-n -e -f -p -s -w",
  "ssh-agent {} rm -rf x": "-a -E -t",
  "watchexec {} rm -rf x": "-w -e -f -i -s -c -d --exts --watch --ignore --filter",
  "npx {} rm -rf x": "-p --package",
  "npm exec {} rm -rf x": "--package",
  "npm x {} rm -rf x": "--package",
  "pnpm dlx {} rm -rf x": "--package",
  "yarn dlx {} rm -rf x": "-p --package",
  "uv run {} rm -rf x": "-p --directory --project --with --python --extra --group",
  "conda run {} rm -rf x": "-n -p --name --prefix --cwd",
  "prlimit {} rm -rf x": "-p -o --pid --output",
  "choom {} rm -rf x": "-n -p --adjust --pid",
  "dbus-launch {} rm -rf x": "--config-file",
  "pipx run {} rm -rf x": "--spec --python",
  "uvx {} rm -rf x": "-p --from --with --python",
  "docker exec {} app rm -rf x": "-u -e -w --user --env --env-file --workdir --detach-keys",
  "docker compose -f x exec {} app rm -rf x": "-u -e -w --index",
  "podman exec {} app rm -rf x": "--preserve-fds",
  "docker run {} image rm -rf x":
    "-a -c -e -h -l -m -p -u -v -w --add-host --annotation --arch --attach --blkio-weight --cap-drop --cgroup-parent " +
    "--cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares --cpus --cpuset-cpus --dns --dns-option --dns-search " +
    "--domainname --env --env-file --expose --gpus --group-add --health-cmd --hostname --ip --ipc --isolation --kernel-memory " +
    "--label --label-file --link --log-driver --log-opt --mac-address --memory --memory-swap --mount --name --network " +
    "--network-alias --oom-score-adj --os --pid --pids-limit --platform --pod --publish --pull --restart --runtime --security-opt " +
    "--shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs --ulimit --user --userns --uts --volume " +
    "--volume-driver --volumes-from --workdir",
  "run0 {} rm -rf x":
    "-u -D -g --background --chdir --description --group --nice --property --setenv --slice --unit --user",
  "proot {} rm -rf x": "-b -i -k -m -p -q -r -w --bind --cwd --kernel-release --qemu --rootfs",
  "systemd-nspawn {} rm -rf x":
    "-D -E -L -M -S -Z -i -p -u --directory --image --machine --setenv --user --bind --bind-ro",
  "machinectl shell {} x rm -rf x": "-E -M -H --setenv --uid --host --machine",
  "flatpak-spawn {} rm -rf x":
    "--app-path --directory --env --env-fd --forward-fd --sandbox-expose --sandbox-expose-ro --unset-env --usr-path",
  "toolbox run {} rm -rf x": "-c -d -r --container --distro --release",
  "lxc exec {} c rm -rf x": "-n --cwd --env --gid --group --mode --name --project --uid --user",
  "apptainer exec {} image rm -rf x":
    "-B -H -W -S --app --bind --env --env-file --home --overlay --pwd --scratch --workdir",
  "ls | xargs {} rm -rf x":
    "-I -n -P -L -d -E -s -a --replace --max-args --max-procs --max-lines --delimiter --eof --max-chars --arg-file",
  "parallel {} rm -rf ::: x": "-j -N -n -a -I -S -d -L --jobs --arg-file --colsep --delimiter --joblog --results",
  "watch {} rm -rf x": "-n -q --interval",
  "bash {} -c 'rm -rf x'": "-o -O +o --rcfile --init-file",
  "env {} -S 'rm -rf x'": "-u -C --unset --chdir",
};
const AS_ANOTHER: Record<string, string> = {
  "sudo {} rm -rf x":
    "-u -g -U -h -p -C -D -R -T -r -t -a --user --group --other-user --host --prompt --chdir --chroot --command-timeout --role --type",
  "doas {} rm -rf x": "-u -C -a",
  "setpriv {} rm -rf x": "--reuid --regid --groups",
  "chroot {} d rm -rf x": "--userspec --groups",
  "unshare {} rm -rf x": "-R -S -G -w --root --wd --setuid --setgid",
  "nsenter {} rm -rf x": "-t -S -G -W --target --setuid --setgid --wdns",
};
const IN_BACKGROUND: Record<string, string> = {
  "systemd-run {} rm -rf x": "-p -M -H -u -E --unit --property --description --slice --uid --gid --setenv",
};

const filled = (templates: Record<string, string>): string[] =>
  Object.entries(templates).flatMap(([template, options]) =>
    options.split(" ").map((option) => template.replace("{}", `${option} v`)),
  );

/** Commands by the rules that they raise. */
export const WRAPPED: Record<string, string[]> = {
  delete: filled(OPTIONS),
  "delete privileges": filled(AS_ANOTHER),
  "background delete": filled(IN_BACKGROUND),
};
