package io.eventbus.simulation;

import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import io.eventbus.server.config.BalanceConfig;
import io.eventbus.server.config.ServerConfig;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongUnaryOperator;

/** Buses that tell each other their load and move clients; all of them are UP all the time. */
final class LoadedCluster {
  private static final int PURPOSE = 7;
  private static final long MINUTE = 60 * Simulator.SECOND;

  /** Duration of one client's move: from the request until it has left. */
  private static final long CHANGE = 20 * Simulator.MILLI;

  private final Simulator simulator;
  private final Network network;
  private final BalanceConfig config;
  private final List<LoadedBus> buses = new ArrayList<>();
  private final List<SimulatedClient> clients = new ArrayList<>();
  private long calls;
  private long moves;
  private LongUnaryOperator changeTakes = underWay -> CHANGE;
  private int changing;
  private int maxChanging;

  LoadedCluster(long seed, int count) {
    this(seed, count, ServerConfig.defaults().balance());
  }

  LoadedCluster(long seed, int count, BalanceConfig config) {
    this.config = config;
    simulator = new Simulator(seed);
    network = new Network(simulator, SimulatedCluster.LATENCY);
    InstantSource time = () -> Instant.ofEpochSecond(0, simulator.now());
    Clock clock = time.withZone(ZoneOffset.UTC);
    RegistrySnapshot registry = registry(count);
    for (int i = 0; i < count; i++) {
      int from = i;
      buses.add(
          new LoadedBus(
              simulator,
              clock,
              i,
              registry,
              (address, service, request, deadline) -> call(from, address, service, request),
              config));
    }
  }

  /** Returns a registry in which all are UP. */
  private static RegistrySnapshot registry(int count) {
    RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);
    for (int i = 0; i < count; i++) {
      String name = SimulatedBus.name(i);
      Applied registered =
          apply(state, new BusCommand.Register(Consensus.describe(name), 0, 86_400_000));
      long epoch = ((CommandResult.BusRegistered) registered.result()).epoch();
      state =
          apply(registered.state(), new BusCommand.ChangeState(new BusId(name), epoch, BusState.UP))
              .state();
    }
    return state.snapshot();
  }

  private static Applied apply(RegistryState state, BusCommand command) {
    long version = state.snapshot().version();
    return StateMachine.apply(
        state, new TimedCommand(new CommandId(version, 1, version + 1), 1, command));
  }

  /** Starts buses at different times within a second. */
  void start() {
    for (LoadedBus bus : buses) {
      simulator.after((long) (simulator.fraction(5, bus.number()) * Simulator.SECOND), bus::start);
    }
  }

  Simulator simulator() {
    return simulator;
  }

  LoadedBus bus(int number) {
    return buses.get(number);
  }

  List<LoadedBus> buses() {
    return buses;
  }

  List<SimulatedClient> clients() {
    return clients;
  }

  double low() {
    return config.low();
  }

  double high() {
    return config.high();
  }

  /** Connects so many clients to a bus, with so much demand together. */
  void connect(int bus, int count, double load) {
    for (int i = 0; i < count; i++) {
      clients.add(new SimulatedClient(this, clients.size() + 1L, bus, load / count));
    }
  }

  /** Sets how long a move takes that begins when so many are in progress, itself included. */
  void changesTake(LongUnaryOperator time) {
    changeTakes = time;
  }

  /** Begins a move; returns how long it takes. */
  long changeBegins() {
    changing++;
    maxChanging = Math.max(maxChanging, changing);
    return changeTakes.applyAsLong(changing);
  }

  void changeEnds() {
    changing--;
  }

  /** Returns the maximum of moves that were in progress together. */
  int maxChanging() {
    return maxChanging;
  }

  long delay(long use) {
    return network.delay(PURPOSE, use, simulator.now());
  }

  private CompletableFuture<byte[]> call(
      int from, InetSocketAddress address, int service, byte[] request) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    LoadedBus to = bus(SimulatedBus.numberOf(address.getHostString()));
    long use = ++calls;
    LinkPeer self = new LinkPeer("simulated", "1", SimulatedBus.name(from), from + 1L, "balance");
    simulator.after(
        network.delay(PURPOSE, from, to.number(), use),
        () -> {
          var unused =
              to.answer(service, self, request)
                  .whenComplete(
                      (bytes, error) ->
                          simulator.after(
                              network.delay(PURPOSE, to.number(), from, use),
                              () -> {
                                if (error == null) {
                                  answer.complete(bytes);
                                } else {
                                  answer.completeExceptionally(error);
                                }
                              }));
        });
    return answer;
  }

  void countMove() {
    moves++;
  }

  /** Returns the number of completed moves. */
  long moves() {
    return moves;
  }

  /** Returns the number of moves of clients that had moved less than a minute before. */
  long movedTwiceInAMinute() {
    long found = 0;
    for (SimulatedClient client : clients) {
      List<Long> times = client.moves();
      for (int i = 1; i < times.size(); i++) {
        if (times.get(i) - times.get(i - 1) < MINUTE) {
          found++;
        }
      }
    }
    return found;
  }

  /** Returns the maximum of moves of one client. */
  int maxMoves() {
    return clients.stream().mapToInt(c -> c.moves().size()).max().orElse(0);
  }

  /** Returns how many clients came back to a bus that they had been moved away from. */
  long cameBack() {
    return clients.stream()
        .filter(c -> c.path().stream().distinct().count() < c.path().size())
        .count();
  }

  /** Returns the maximum demand on a bus. */
  double highest() {
    return buses.stream().mapToDouble(LoadedBus::asked).max().orElse(0);
  }

  long overloaded() {
    return buses.stream().filter(LoadedBus::isOverloaded).count();
  }

  /** Returns a number that depends on everything that has happened. */
  long fingerprint() {
    long h = simulator.events();
    for (SimulatedClient client : clients) {
      h = 31 * h + client.moves().hashCode();
      h = 31 * h + client.path().hashCode();
    }
    return h;
  }
}
