package io.eventbus.simulation;

import io.eventbus.registry.BusAddresses;
import io.eventbus.registry.BusCommand;
import io.eventbus.registry.BusDescription;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.state.Applied;
import io.eventbus.registry.state.RegistryLimits;
import io.eventbus.registry.state.RegistryState;
import io.eventbus.registry.state.StateMachine;
import io.eventbus.registry.state.TimedCommand;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Registry of a simulated cluster: the real state machine, with a simple leader in front of it.
 *
 * <p>The leader is one of three voters. It takes commands while it reaches a majority of them; if
 * it does not, the others elect one of themselves after the election timeout, and the new one waits
 * for the longest lease before it lets leases run out. Applied commands are told to every bus that
 * the leader reaches, at most every 50 ms; buses that come back are told when the leader's next
 * attempt to connect succeeds.
 */
final class Consensus {
  private static final int VOTERS = 3;
  private static final long TELL = 50 * Simulator.MILLI;
  private static final long DUTY = 200 * Simulator.MILLI;
  private static final long ELECTION_MIN = 300 * Simulator.MILLI;
  private static final long ELECTION_MAX = 600 * Simulator.MILLI;
  private static final long CONNECT_DEADLINE = 3 * Simulator.SECOND;
  private static final long TRY_AGAIN = 250 * Simulator.MILLI;
  private static final int PURPOSE = 1;

  private final Simulator simulator;
  private final Network network;
  private final List<BusRegistry> copies;
  private final int[] voters;
  private final long leaseMillis;
  private final boolean[] cutOff;
  private final boolean[] connecting;
  private RegistryState state = RegistryState.empty(RegistryLimits.DEFAULT, 1);
  private int leader;
  private long leadingSince;
  private boolean electing;
  private boolean telling;
  private long commands;

  Consensus(
      Simulator simulator,
      Network network,
      List<BusRegistry> copies,
      int[] voters,
      long leaseMillis) {
    if (voters.length != VOTERS) {
      throw new IllegalArgumentException("voters: " + voters.length);
    }
    this.simulator = simulator;
    this.network = network;
    this.copies = copies;
    this.voters = voters.clone();
    this.leaseMillis = leaseMillis;
    this.cutOff = new boolean[copies.size()];
    this.connecting = new boolean[copies.size()];
    this.leader = voters[0];
    this.leadingSince = simulator.now();
  }

  static RegistrySnapshot nothing() {
    return RegistryState.empty(RegistryLimits.DEFAULT, 1).snapshot();
  }

  /** Returns the description of a bus. */
  static BusDescription describe(String name) {
    return new BusDescription(
        new BusId(name),
        new BusAddresses(List.of("ws://" + name + ":8080/"), new Endpoint(name, 8082), null, null),
        "default",
        "0",
        1,
        0);
  }

  void start() {
    duties();
  }

  int leader() {
    return leader;
  }

  RegistrySnapshot committed() {
    return state.snapshot();
  }

  long commands() {
    return commands;
  }

  private int reachedBy(int voter) {
    int reached = 0;
    for (int other : voters) {
      if (network.reach(voter, other)) {
        reached++;
      }
    }
    return reached;
  }

  private boolean hasMajority(int voter) {
    return reachedBy(voter) > VOTERS / 2;
  }

  private void duties() {
    if (hasMajority(leader)) {
      expire();
      catchUp();
    } else if (!electing) {
      elect();
    }
    simulator.after(DUTY, this::duties);
  }

  private void elect() {
    for (int voter : voters) {
      if (hasMajority(voter)) {
        electing = true;
        double part = simulator.fraction(PURPOSE, voter, simulator.now());
        simulator.after(
            ELECTION_MIN + (long) (part * (ELECTION_MAX - ELECTION_MIN)),
            () -> {
              electing = false;
              if (hasMajority(voter)) {
                leader = voter;
                leadingSince = simulator.now();
              }
            });
        return;
      }
    }
  }

  private void expire() {
    long millis = simulator.now() / Simulator.MILLI;
    boolean expired =
        state.snapshot().buses().stream()
            .anyMatch(bus -> bus.state() != BusState.DOWN && bus.lease().isExpiredAt(millis));
    if (expired && simulator.now() - leadingSince >= leaseMillis * Simulator.MILLI) {
      apply(new BusCommand.ExpireLeases());
    }
  }

  private CommandResult apply(BusCommand command) {
    CommandId id = new CommandId(state.snapshot().version(), 0, ++commands);
    Applied applied =
        StateMachine.apply(state, new TimedCommand(id, simulator.now() / Simulator.MILLI, command));
    state = applied.state();
    if (!applied.changes().isEmpty()) {
      tellSoon();
    }
    return applied.result();
  }

  private void tellSoon() {
    if (!telling) {
      telling = true;
      simulator.after(
          TELL,
          () -> {
            telling = false;
            tell();
          });
    }
  }

  private void tell() {
    for (int bus = 0; bus < copies.size(); bus++) {
      if (!network.reach(leader, bus)) {
        cutOff[bus] = true;
      } else if (!cutOff[bus]) {
        tell(bus);
      }
    }
  }

  private void tell(int bus) {
    RegistrySnapshot told = state.snapshot();
    simulator.after(
        network.delay(PURPOSE, bus, told.version()),
        () -> {
          if (network.reach(leader, bus)) {
            copies.get(bus).update(told);
          } else {
            cutOff[bus] = true;
          }
        });
  }

  /**
   * Catches up: the leader tries to connect all the time: once at the start of 3 s, and again after
   * 1 s.
   */
  private void catchUp() {
    for (int bus = 0; bus < copies.size(); bus++) {
      if (!network.reach(leader, bus)) {
        cutOff[bus] = true;
      } else if (cutOff[bus] && !connecting[bus]) {
        connecting[bus] = true;
        long phase = (long) (simulator.fraction(PURPOSE, bus, simulator.now()) * CONNECT_DEADLINE);
        int told = bus;
        simulator.after(
            phase < Simulator.SECOND ? Simulator.SECOND - phase : CONNECT_DEADLINE - phase,
            () -> {
              connecting[told] = false;
              if (network.reach(leader, told)) {
                cutOff[told] = false;
                tell(told);
              }
            });
      }
    }
  }

  /**
   * Submits a command, as a bus does: it goes on trying until the deadline.
   *
   * @param deadline the moment until which to wait
   * @param done gets the result; null if there was none in time
   */
  void submit(int from, BusCommand command, long deadline, Consumer<@Nullable CommandResult> done) {
    int to = leader;
    if (network.reach(from, to) && hasMajority(to) && !cutOff[from]) {
      long use = ++commands;
      simulator.after(
          network.delay(PURPOSE, from, use), () -> arrived(from, to, use, command, deadline, done));
    } else if (simulator.now() + TRY_AGAIN < deadline) {
      simulator.after(TRY_AGAIN, () -> submit(from, command, deadline, done));
    } else {
      simulator.at(deadline, () -> done.accept(null));
    }
  }

  private void arrived(
      int from,
      int to,
      long use,
      BusCommand command,
      long deadline,
      Consumer<@Nullable CommandResult> done) {
    if (to != leader || !hasMajority(to)) {
      simulator.at(deadline, () -> done.accept(null));
      return;
    }
    CommandResult result = apply(command);
    // There and back to a majority of the voters, and the answer.
    simulator.after(
        network.delay(PURPOSE, to, use, 1)
            + network.delay(PURPOSE, to, use, 2)
            + network.delay(PURPOSE, to, use, 3),
        () -> {
          if (network.reach(from, to)) {
            done.accept(result);
          } else {
            simulator.at(deadline, () -> done.accept(null));
          }
        });
  }

  /** Returns a bus's committed entry. */
  @Nullable BusInfo bus(String name) {
    return state.snapshot().bus(new BusId(name));
  }
}
