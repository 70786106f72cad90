package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.wire.AttackPeer;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.loadtest.attack.wire.Octets;
import io.eventbus.loadtest.attack.wire.Opening;
import io.eventbus.schema.Welcome;
import java.util.Map;
import java.util.stream.Stream;

/** Members that grant their tunnels octet by octet, to callers that never read. */
record TunnelCredits() implements Attack {
  private static final int TUNNELS = 1_000;
  private static final int CREDITS = 1_000;
  private static final int WAIT_MILLIS = 600_000;
  private static final byte[] NOTHING = {};

  @Override
  public String name() {
    return "tunnel-credits";
  }

  @Override
  public String what() {
    return "10 members that grant 1,000 tunnels octet by octet to callers that never read";
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("conns", 10L);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    int round = 0;
    while (!field.over()) {
      int now = round++;
      int conns = field.knob("conns");
      HostileCrowd members =
          HostileCrowd.members(
              field, conns, 1, n -> "granted" + now + "x" + n, frames -> new Grants(field, frames));
      Swarm callers =
          new Swarm(
                  field,
                  Opening.client(field.bus()).withReceiveBuffer(4096),
                  conns,
                  i -> new Silent("granted" + now + "x" + i))
              .fill();
      while (!field.over() && callers.alive() > 0) {
        field.sleep(20);
      }
      members.reset();
    }
  }

  /** Asks for tunnels, and never reads. */
  private record Silent(String service) implements AttackPeer {
    @Override
    public void welcomed(AttackWire wire, Welcome welcome) {
      wire.send(
          Octets.message(
              HostileServiceClient.numbered(
                      TUNNELS, n -> ClientCalls.tunnel(n, service, WAIT_MILLIS, 1_024))
                  .toArray(byte[][]::new)));
      wire.readAt(0);
    }
  }

  /** Accepts tunnels, and grants them one octet after the other. */
  private static final class Grants extends HostileServiceClient {
    private final Field field;

    Grants(Field field, Stream<byte[]> frames) {
      super(field.tally(), frames);
      this.field = field;
    }

    @Override
    void invoked(AttackWire wire, long call) {
      wire.sendMessage(ClientCalls.reply(call, NOTHING, 1));
      field.tally().add("credits", CREDITS);
      wire.send(
          Octets.message(
              HostileServiceClient.numbered(CREDITS, n -> ClientCalls.credit(call, n + 1L, 0))
                  .toArray(byte[][]::new)));
    }
  }
}
