package io.eventbus.simulation;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Barrier;
import io.eventbus.schema.ChangeBus;
import io.eventbus.schema.ChangeBusFailed;
import io.eventbus.schema.Hello;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Welcome;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.samples.SampleFrames;
import io.eventbus.server.session.IdleConnection;
import io.eventbus.server.session.Session;
import io.eventbus.server.session.TestResumes;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Client with a rate, which moves to another bus when it is asked to: it connects there with the
 * token, and leaves the old bus when it is welcome. Its events are a rate, not messages.
 */
final class SimulatedClient {
  /** Capacity of a bus: it stands for all that is measured. */
  private static final double EVENTS_A_SECOND = 100_000;

  /** Delay that is more than half of the time that a client has. */
  private static final long LATE = 6 * Simulator.SECOND;

  private final LoadedCluster cluster;
  private final long number;
  private final List<Long> moves = new ArrayList<>();
  private final List<Integer> path = new ArrayList<>();
  private final List<Long> asked = new ArrayList<>();
  private double load;
  private Connection current;
  private Manner manner = Manner.GOES;

  /** Manner of a client that is asked to move. */
  enum Manner {
    GOES,
    /** Answers that it stays. */
    STAYS,
    /** Has read the request, and ignores it. */
    IGNORES,
    /** Reads nothing. */
    READS_NOTHING,
    /** Reads something else first, and goes. */
    READS_LATE,
    /** Asks for a barrier again and again, and does not move. */
    DAWDLES
  }

  SimulatedClient(LoadedCluster cluster, long number, int bus, double load) {
    this.cluster = cluster;
    this.number = number;
    this.load = load;
    this.current = new Connection(cluster.bus(bus));
    current.hello(null, null);
    arrived(current);
  }

  private void arrived(Connection at) {
    current = at;
    current.bus.ask(load);
    current.countFrom = cluster.simulator().now();
    path.add(current.bus.number());
  }

  private void left(Connection old) {
    old.count();
    old.bus.ask(-load);
  }

  /** Sets its demand on its bus, as a share of the bus's capacity. */
  void load(double now) {
    current.count();
    current.bus.ask(now - load);
    load = now;
  }

  double load() {
    return load;
  }

  int bus() {
    return current.bus.number();
  }

  void manner(Manner now) {
    manner = now;
  }

  /** Returns when it was asked to move, in virtual time. */
  List<Long> asked() {
    return asked;
  }

  /** Returns when it moved, in virtual time. */
  List<Long> moves() {
    return moves;
  }

  /** Returns the buses that it was on, the first included. */
  List<Integer> path() {
    return path;
  }

  private void onChangeBus(Connection from, ChangeBus request) {
    asked.add(cluster.simulator().now());
    switch (manner) {
      case GOES -> go(from, request);
      case READS_LATE -> cluster.simulator().after(LATE, () -> go(from, request));
      case STAYS ->
          from.say(
              ControlFrames.encode(
                  TypeCode.CHANGE_BUS_FAILED, new ChangeBusFailed(request.getToken(), "it stays")));
      case DAWDLES -> dawdle(from);
      case IGNORES, READS_NOTHING -> {}
    }
  }

  private void dawdle(Connection from) {
    from.say(ControlFrames.encode(TypeCode.BARRIER, new Barrier(1L)));
    cluster.simulator().after(8 * Simulator.SECOND, () -> dawdle(from));
  }

  private void go(Connection from, ChangeBus request) {
    int to = SimulatedBus.numberOf(URI.create(request.getUrls().get(0)).getHost());
    cluster
        .simulator()
        .after(
            cluster.changeBegins(),
            () -> {
              cluster.changeEnds();
              Connection next = new Connection(cluster.bus(to));
              next.hello(request.getToken(), from);
            });
  }

  private void onWelcome(Connection at) {
    Connection old = at.replaces;
    if (old != null) {
      at.replaces = null;
      left(old);
      arrived(at);
      moves.add(cluster.simulator().now());
      cluster.countMove();
      old.bus.loop().perform(old.session::onClosed);
    }
  }

  private void onRefused(Connection at, String why) {
    Connection old = at.replaces;
    String token = at.token;
    if (old != null && token != null) {
      old.say(ControlFrames.encode(TypeCode.CHANGE_BUS_FAILED, new ChangeBusFailed(token, why)));
    }
  }

  /** Connection, as the bus sees it. */
  private final class Connection extends IdleConnection {
    private final LoadedBus bus;
    private final Session session;
    private double counted;
    private long countFrom;
    private @Nullable Connection replaces;
    private @Nullable String token;

    Connection(LoadedBus bus) {
      this.bus = bus;
      this.session = session(bus.context());
    }

    void hello(@Nullable String change, @Nullable Connection instead) {
      replaces = instead;
      token = change;
      // The same in every run.
      String resume = TestResumes.of(number);
      say(
          ControlFrames.encode(
              TypeCode.HELLO,
              new Hello("client", "simulated/1", null, resume, Map.of(), change, null, null)));
    }

    void say(byte[] frame) {
      bus.loop()
          .perform(
              () -> {
                bus.context().budget().renew();
                session.onMessage(
                    ByteBuffer.wrap(frame), 0, frame.length, cluster.simulator().now(), () -> {});
              });
    }

    void count() {
      long now = cluster.simulator().now();
      counted += load * EVENTS_A_SECOND * (now - countFrom) / Simulator.SECOND;
      countFrom = now;
    }

    @Override
    public void send(byte[] frame) {
      for (Object said : SampleFrames.read(ByteBuffer.wrap(frame))) {
        // The answer takes its way: nothing comes back within the call.
        cluster.simulator().after(cluster.delay(number), () -> onFrame(said));
      }
    }

    private void onFrame(Object said) {
      if (said instanceof ChangeBus request) {
        onChangeBus(this, request);
      } else if (said instanceof Welcome) {
        onWelcome(this);
      } else if (said instanceof Problem problem) {
        onRefused(this, problem.getMessage());
      }
    }

    @Override
    public long delivered() {
      if (this == current) {
        count();
      }
      return (long) counted;
    }

    @Override
    public void send(Delivery frame) {
      throw new UnsupportedOperationException("no events flow");
    }

    @Override
    public void inTurn(Runnable task) {
      bus.loop().execute(task);
    }

    @Override
    public void later(Runnable retry, long nanos) {
      cluster.simulator().after(nanos, () -> bus.loop().execute(retry));
    }

    @Override
    public void whenRead(Runnable task) {
      if (manner == Manner.READS_NOTHING) {
        return;
      }
      long late = manner == Manner.READS_LATE ? LATE : 0;
      cluster.simulator().after(cluster.delay(number) + late, () -> bus.loop().execute(task));
    }

    @Override
    public void execute(Runnable task) {
      bus.loop().execute(task);
    }

    @Override
    public String remoteAddress() {
      return "simulated";
    }
  }
}
