package io.eventbus.loadtest.system;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A network namespace for each bus, with two networks. Clients, which are in the namespace of the
 * test, reach the buses by the first one, which is always good. Buses reach each other by the
 * second one only, whose packets can be delayed and lost, and from which a bus can be cut off.
 *
 * <p>The second network is bad by {@code netem}, or, where the kernel has none, by a {@link
 * PacketRelay} to which the buses' ends lead as VXLAN. It needs root and the commands {@code ip}
 * and {@code tc}. In the machine's own network there is one interface more while it lasts, with an
 * address that is reserved for tests of networks (RFC 2544). For one thread.
 */
final class NamespaceNetwork implements AutoCloseable {
  private static final int VXLAN_PORT = 47_890;
  private static final Pattern OURS = Pattern.compile("^(evt(\\d+))-\\S+", Pattern.MULTILINE);

  private final String name = "evt" + ProcessHandle.current().pid();
  private final int buses;
  private final int subnet;
  private final Thread hook = new Thread(this::remove, "remove-" + name);
  private @Nullable PacketRelay relay;

  private NamespaceNetwork(int buses) throws IOException {
    this.buses = buses;
    this.subnet = freeSubnet();
  }

  /**
   * Makes the network.
   *
   * @throws IOException if this is not possible here; says why
   */
  static NamespaceNetwork create(int buses) throws IOException, InterruptedException {
    removeThoseOfEndedTests();
    NamespaceNetwork network = new NamespaceNetwork(buses);
    Runtime.getRuntime().addShutdownHook(network.hook);
    try {
      network.build();
      return network;
    } catch (IOException | InterruptedException e) {
      network.close();
      throw e;
    }
  }

  private void build() throws IOException, InterruptedException {
    run("ip netns add " + hub());
    for (String bridge : List.of("clients", "buses")) {
      run("ip -n " + hub() + " link add " + bridge + " type bridge");
      run("ip -n " + hub() + " link set dev " + bridge + " up");
    }
    run("ip link add " + name + " type veth peer name outside netns " + hub());
    run("ip -n " + hub() + " link set dev outside master clients");
    run("ip -n " + hub() + " link set dev outside up");
    run("ip addr add " + outside() + "/24 dev " + name);
    run("ip link set dev " + name + " up");
    boolean netem = hasNetem();
    for (int bus = 0; bus < buses; bus++) {
      run("ip netns add " + space(bus));
      run("ip -n " + space(bus) + " link set lo up");
      plug(bus, "eth0", "clients", clientHost(bus));
      if (netem) {
        plug(bus, "links", "buses", linkHost(bus));
      } else {
        tunnel(bus);
      }
    }
    if (!netem) {
      relay = new PacketRelay(outside(), VXLAN_PORT, clientHosts());
    }
  }

  /** A cable from a bus to a bridge. */
  private void plug(int bus, String device, String bridge, String address)
      throws IOException, InterruptedException {
    String port = bridge + bus;
    run(
        "ip -n "
            + hub()
            + " link add "
            + port
            + " type veth peer name "
            + device
            + " netns "
            + space(bus));
    run("ip -n " + hub() + " link set dev " + port + " master " + bridge);
    run("ip -n " + hub() + " link set dev " + port + " up");
    address(bus, device, address);
  }

  /** The same by way of the relay, which tells buses by the last byte of the hardware address. */
  private void tunnel(int bus) throws IOException, InterruptedException {
    run(
        "ip -n "
            + space(bus)
            + " link add links address 02:00:00:00:00:0"
            + (bus + 1)
            + " mtu 1400 gso_max_segs 1 type vxlan id 1 nolearning local "
            + clientHost(bus)
            + " remote "
            + outside()
            + " dstport "
            + VXLAN_PORT);
    address(bus, "links", linkHost(bus));
  }

  private void address(int bus, String device, String address)
      throws IOException, InterruptedException {
    run("ip -n " + space(bus) + " addr add " + address + "/24 dev " + device);
    run("ip -n " + space(bus) + " link set dev " + device + " up");
  }

  private boolean hasNetem() throws InterruptedException {
    try {
      run("tc -n " + hub() + " qdisc add dev buses root netem delay 1ms");
      run("tc -n " + hub() + " qdisc del dev buses root");
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Sets delay and loss of packets between buses. */
  String describe() {
    return relay == null ? "netem" : "a relay, since the kernel has no netem";
  }

  /** The address of a bus to clients. */
  String clientHost(int bus) {
    return "198.18." + subnet + "." + (bus + 1);
  }

  private List<String> clientHosts() {
    List<String> all = new ArrayList<>();
    for (int bus = 0; bus < buses; bus++) {
      all.add(clientHost(bus));
    }
    return all;
  }

  /** The address of a bus to other buses. */
  String linkHost(int bus) {
    return "198.19.0." + (bus + 1);
  }

  private String outside() {
    return "198.18." + subnet + ".254";
  }

  /** The beginning of a command that runs where a bus is. */
  List<String> prefix(int bus) {
    return List.of("ip", "netns", "exec", space(bus));
  }

  /** From now on each packet from a bus to another takes so long, and so many are lost. */
  void impair(Duration delay, int lossPercent) throws IOException, InterruptedException {
    PacketRelay relays = relay;
    if (relays != null) {
      relays.impair(delay, lossPercent);
      return;
    }
    for (int bus = 0; bus < buses; bus++) {
      run(
          "tc -n "
              + space(bus)
              + " qdisc replace dev links root netem limit 100000 delay "
              + delay.toMillis()
              + "ms loss "
              + lossPercent
              + "%");
    }
  }

  /** Packets that were lost on purpose; -1 where that is not known. */
  long lost() {
    PacketRelay relays = relay;
    return relays == null ? -1 : relays.lost();
  }

  /** Takes the interface of a bus to the other ones down. */
  void down(int bus) throws IOException, InterruptedException {
    run("ip -n " + space(bus) + " link set dev links down");
  }

  void up(int bus) throws IOException, InterruptedException {
    run("ip -n " + space(bus) + " link set dev links up");
  }

  private String hub() {
    return name + "-hub";
  }

  private String space(int bus) {
    return name + "-" + bus;
  }

  @Override
  public void close() {
    remove();
    Runtime.getRuntime().removeShutdownHook(hook);
  }

  private void remove() {
    PacketRelay relays = relay;
    if (relays != null) {
      relays.close();
    }
    List<String> commands = new ArrayList<>(List.of("ip link del " + name));
    commands.add("ip netns del " + hub());
    for (int bus = 0; bus < buses; bus++) {
      commands.add("ip netns del " + space(bus));
    }
    for (String command : commands) {
      try {
        run(command);
      } catch (IOException e) {
        // This interface was not made or is gone; the next may be there.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A test that was killed could not clean up. */
  private static void removeThoseOfEndedTests() throws IOException, InterruptedException {
    Matcher found = OURS.matcher(run("ip netns list"));
    while (found.find()) {
      if (ProcessHandle.of(Long.parseLong(found.group(2))).isEmpty()) {
        run("ip netns del " + found.group().trim());
      }
    }
  }

  /** So that two tests can run at the same time. */
  private static int freeSubnet() throws IOException {
    for (int i = 0; i < 256; i++) {
      int subnet = (int) ((ProcessHandle.current().pid() + i) % 256);
      String address = "198.18." + subnet + ".254";
      if (NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .noneMatch(used -> used.getHostAddress().equals(address))) {
        return subnet;
      }
    }
    throw new IOException("no free network in 198.18.0.0/16");
  }

  private static String run(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command.split(" ", -1)).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new InterruptedIOException(command + ": not done within 60 s");
    }
    if (process.exitValue() != 0) {
      throw new IOException(command + ": " + output);
    }
    return output;
  }
}
