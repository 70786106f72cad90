package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import io.eventbus.protocol.DataView;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.TypeCode;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.stream.Stream;

/** An account that sends by requests, or by a tunnel, what its quota does not let it publish. */
record QuotaBypass(String name, boolean tunnel) implements Attack {
  private static final int MIN_SECONDS = 15;
  private static final int QUOTA = 64 * 1024;
  private static final int PAYLOAD = 32 * 1024;
  private static final int IN_FLIGHT = 8;
  private static final int TIMEOUT_MILLIS = 60_000;
  private static final long WINDOW = 1 << 20;
  private static final byte[] NOTHING = {};

  /** A second's worth comes at once, and what is in flight is paid for afterwards. */
  private static final long SLACK = 2 * WINDOW;

  @Override
  public String what() {
    return "an account that may publish 64 KiB/s sends " + (tunnel ? "by a tunnel" : "requests");
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    return Map.of("quota", (long) QUOTA);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING
        .lasting(MIN_SECONDS)
        .withAccounts("[account hostile]\nquota publish-bytes = " + knobs.get("quota") + "\n");
  }

  @Override
  public void run(Field field) throws InterruptedException {
    HostileCrowd.members(field, 1, 1, n -> "carried", frames -> new Member(field, frames));
    long begin = System.nanoTime();
    new HostileCrowd(field, 1, i -> new Caller(field));
    field.untilOver();
    double seconds = (System.nanoTime() - begin) / 1e9;
    long carried = field.tally().get("carried");
    field
        .tally()
        .check(
            "no more bytes than the quota come through",
            carried <= field.knob("quota") * (seconds + 1) + SLACK,
            Math.round(carried / seconds / 1024) + " KiB/s");
  }

  private byte[] request(long call) {
    return tunnel
        ? ClientCalls.tunnel(call, "carried", TIMEOUT_MILLIS, WINDOW)
        : ClientCalls.request(call, "carried", TIMEOUT_MILLIS, 0, new byte[PAYLOAD]);
  }

  /** Sends as much as it may. */
  private final class Caller extends HostileServiceClient {
    private final ReplyView reply = new ReplyView();
    private final DataView credit = new DataView();
    private final byte[] payload = new byte[PAYLOAD];
    private long calls = tunnel ? 1 : IN_FLIGHT;
    private long offset;
    private long limit;

    Caller(Field field) {
      super(field.tally(), numbered(tunnel ? 1 : IN_FLIGHT, QuotaBypass.this::request));
    }

    @Override
    public void writable(AttackWire wire) {
      super.writable(wire);
      pump(wire);
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      super.frame(wire, type, message, from, to);
      if (type == TypeCode.REPLY.code() && tunnel) {
        reply.read(message, from, to, FrameLimits.DEFAULT);
        limit = reply.limit();
      } else if (type == TypeCode.REPLY.code()) {
        wire.sendMessage(request(++calls));
      } else if (type == TypeCode.CREDIT.code()) {
        credit.readCredit(message, from, to);
        limit = Math.max(limit, credit.limit());
      }
      pump(wire);
    }

    private void pump(AttackWire wire) {
      while (wire.isWritable() && offset + PAYLOAD + ClientCalls.DATA_HEAD <= limit) {
        wire.sendMessage(ClientCalls.data(1, offset, payload));
        offset += PAYLOAD + ClientCalls.DATA_HEAD;
      }
    }
  }

  /** Takes everything. */
  private static final class Member extends HostileServiceClient {
    private final Field field;
    private final DataView data = new DataView();
    private long granted = WINDOW;

    Member(Field field, Stream<byte[]> frames) {
      super(field.tally(), frames);
      this.field = field;
    }

    @Override
    void invoked(AttackWire wire, long call) {
      wire.sendMessage(ClientCalls.reply(call, NOTHING, WINDOW));
    }

    @Override
    public void frame(AttackWire wire, int type, ByteBuffer message, int from, int to) {
      super.frame(wire, type, message, from, to);
      if (type == TypeCode.INVOKE.code()) {
        field.tally().add("carried", to - from);
      } else if (type == TypeCode.DATA.code()) {
        data.read(message, from, to);
        field.tally().add("carried", data.payloadLength());
        long seen = data.offset() + data.payloadLength() + ClientCalls.DATA_HEAD;
        if (seen + WINDOW - granted >= WINDOW / 4) {
          granted = seen + WINDOW;
          wire.sendMessage(ClientCalls.credit(data.call(), granted, seen));
        }
      }
    }
  }
}
