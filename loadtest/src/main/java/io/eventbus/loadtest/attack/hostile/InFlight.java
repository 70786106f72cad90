package io.eventbus.loadtest.attack.hostile;

import io.eventbus.loadtest.attack.Attack;
import io.eventbus.loadtest.attack.Field;
import io.eventbus.loadtest.attack.Needs;
import io.eventbus.loadtest.attack.wire.AttackWire;
import io.eventbus.loadtest.attack.wire.ClientCalls;
import java.util.Map;
import java.util.stream.Stream;

/** Calls, or tunnels, that members do not answer, and that end together, again and again. */
record InFlight(String name, End end, long conns, long each) implements Attack {
  private static final int SERVICES = 100;
  private static final int MEMBERS = 20;
  private static final int LONG_MILLIS = 600_000;
  private static final int MIN_SECONDS = 25;
  private static final byte[] NOTHING = {};

  /** Ends of requests. */
  enum End {
    /** Tunnels that nobody accepts: as long as the attack lasts. */
    TUNNELS_WAIT,
    /** Calls at the end of their time. */
    EXPIRE,
    /** Calls by the reset of their callers. */
    CALLERS,
    /** Calls by the reset of their members. */
    MEMBERS,
    /** Idle tunnels by the reset of both ends. */
    TUNNELS
  }

  @Override
  public String what() {
    return conns
        + " connections with "
        + each
        + switch (end) {
          case TUNNELS_WAIT -> " tunnels each that nobody accepts";
          case EXPIRE -> " calls each that expire at one moment";
          case CALLERS -> " calls each, whose callers are reset at one moment";
          case MEMBERS -> " calls each, whose members are reset at one moment";
          case TUNNELS -> " idle tunnels each, both ends of which are reset at one moment";
        };
  }

  @Override
  public Map<String, Long> knobs(long heapMegabytes) {
    long times = Math.max(1, heapMegabytes / 256);
    return Map.of(
        "conns", end == End.TUNNELS_WAIT ? conns * times : conns, "each", each, "hold", 6L);
  }

  @Override
  public Needs needs(Map<String, Long> knobs) {
    return Needs.NOTHING.lasting(MIN_SECONDS);
  }

  @Override
  public void run(Field field) throws InterruptedException {
    while (!field.over()) {
      HostileCrowd members = members(field);
      long before = field.tally().get("frames");
      int hold = field.knob("hold") * 1_000;
      long end = System.nanoTime() + hold * 1_000_000L;
      HostileCrowd callers =
          new HostileCrowd(
              field,
              field.knob("conns"),
              i -> new HostileServiceClient(field.tally(), requests(field.knob("each"), end)));
      HostileServiceClient.await(
          field, "frames", before + (long) field.knob("conns") * field.knob("each"));
      field.sleep(Math.max(hold / 2, (end - System.nanoTime()) / 1_000_000 + 500));
      switch (this.end) {
        case TUNNELS_WAIT -> field.untilOver();
        case CALLERS -> callers.reset();
        case MEMBERS -> members.reset();
        case EXPIRE -> {
          // They have ended.
        }
        case TUNNELS -> {
          callers.reset();
          members.reset();
        }
      }
      field.sleep(hold / 2);
      callers.reset();
      members.reset();
    }
  }

  private HostileCrowd members(Field field) throws InterruptedException {
    if (end != End.TUNNELS) {
      return HostileCrowd.members(field, MEMBERS, SERVICES, n -> "f" + n % SERVICES);
    }
    // A connection serves as many tunnels as it may ask for.
    int count = field.knob("conns");
    return HostileCrowd.members(
        field, count, 1, n -> "f" + n % SERVICES, frames -> new Accepts(field, frames));
  }

  private Stream<byte[]> requests(int count, long end) {
    return HostileServiceClient.numbered(
        count,
        call -> {
          String service = "f" + call % SERVICES;
          return switch (this.end) {
            case TUNNELS_WAIT, TUNNELS -> ClientCalls.tunnel(call, service, LONG_MILLIS, 1_024);
            case EXPIRE -> ClientCalls.request(call, service, left(end), 0, NOTHING);
            case CALLERS, MEMBERS -> ClientCalls.request(call, service, LONG_MILLIS, 0, NOTHING);
          };
        });
  }

  private static int left(long end) {
    return (int) Math.max(1, (end - System.nanoTime()) / 1_000_000);
  }

  /** Accepts tunnels. */
  private static final class Accepts extends HostileServiceClient {
    Accepts(Field field, Stream<byte[]> frames) {
      super(field.tally(), frames);
    }

    @Override
    void invoked(AttackWire wire, long call) {
      wire.sendMessage(ClientCalls.reply(call, NOTHING, 1_024));
    }
  }
}
