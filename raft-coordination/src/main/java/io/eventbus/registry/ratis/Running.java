package io.eventbus.registry.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.link.DedicatedLoop;
import io.eventbus.registry.membership.VoterPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What runs once a bus knows its cluster: the engine, and the ways into it.
 *
 * @param engine the engine
 * @param gate the way in at the leader
 * @param commands commands and reads on their way to the leader
 * @param administration operators' requests on their way to the leader
 * @param fallen watches the leader's process
 */
record Running(
    Engine engine,
    LeaderGate gate,
    CommandService commands,
    AdministrationService administration,
    FallenLeader fallen) {
  private static final Logger log = LoggerFactory.getLogger(Running.class);

  private static final int DUTY_MILLIS = 200;
  private static final Duration SNAPSHOT_DEADLINE = Duration.ofSeconds(10);

  /** What a bus has before it runs. */
  record Parts(
      RatisRegistryOptions options,
      LinkNode links,
      DedicatedLoop quick,
      PeerBook peers,
      RegistryStateMachine machine,
      RegistryClock clock,
      MemberThreads threads,
      MemberView view,
      VoterPolicy policy) {}

  /**
   * Starts the engine and opens the ways into it.
   *
   * @param founder whether this bus begins the cluster
   * @param fresh whether the engine's files are to be made
   */
  static Running start(
      Parts parts,
      DataDirectory directory,
      DataDirectory.Marker marker,
      boolean founder,
      boolean fresh)
      throws IOException {
    RatisRegistryOptions options = parts.options();
    RaftTransport transport =
        new RaftTransport(
            parts.links(),
            parts.peers(),
            PeerBook.unresolved(options.advertised()),
            options.electionTimeoutMin(),
            SNAPSHOT_DEADLINE,
            parts.threads().raftWorkers(),
            parts.quick(),
            new EntriesOnDisk(parts.machine()::hasLogFailed));
    Engine engine =
        Engine.start(
            options,
            RaftSettings.of(options, directory.engine()),
            marker.cluster(),
            founder,
            fresh,
            transport,
            parts.machine(),
            parts.threads().engineCalls(),
            parts.quick());
    LeaderGate gate =
        new LeaderGate(
            engine::propose,
            parts.clock(),
            options.gate(),
            (nanos, task) -> {
              Future<?> unused =
                  parts.threads().timers().schedule(task, nanos, TimeUnit.NANOSECONDS);
            },
            System::nanoTime);
    String self = options.bus().value();
    Running running =
        new Running(
            engine,
            gate,
            new CommandService(
                parts.links(),
                parts.peers(),
                engine,
                gate,
                parts.machine()::appliedIndex,
                self,
                parts.threads().callers()),
            new AdministrationService(
                parts.links(),
                parts.peers(),
                engine,
                new LeaderAdministration(engine, gate, parts.view(), parts.policy()),
                self,
                parts.threads().callers()),
            new FallenLeader(
                FallenLeader.Links.of(parts.links(), parts.peers()),
                engine,
                parts.threads().timers(),
                System::nanoTime,
                // A leader of this engine is never silent for longer than half of that.
                options.electionTimeoutMin().dividedBy(2),
                self));
    try {
      running.commands.open();
      running.administration.open();
      running.fallen.open();
      running.beginDuties(parts, self);
      return running;
    } catch (RuntimeException e) {
      // The links may have been closed meanwhile.
      running.close();
      throw e;
    }
  }

  private void beginDuties(Parts parts, String self) {
    LeaderDuties duties =
        new LeaderDuties(
            engine,
            gate,
            parts.clock(),
            () -> parts.machine().state().snapshot(),
            System::nanoTime,
            parts.policy(),
            self);
    Future<?> unused =
        parts
            .threads()
            .timers()
            .scheduleWithFixedDelay(
                () -> perform(duties), DUTY_MILLIS, DUTY_MILLIS, TimeUnit.MILLISECONDS);
  }

  // Whatever goes wrong, the next turn must come.
  @SuppressWarnings("CatchingUnchecked")
  private static void perform(LeaderDuties duties) {
    try {
      duties.perform();
    } catch (Exception e) {
      log.warn("The leader's duties failed", e);
    }
  }

  void close() {
    commands.close();
    administration.close();
    fallen.close();
    try {
      engine.close();
    } catch (IOException e) {
      log.warn("The engine did not close", e);
    }
  }
}
