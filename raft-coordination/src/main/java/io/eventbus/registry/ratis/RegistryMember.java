package io.eventbus.registry.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.link.LinkPeer;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryFailedException;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.state.RegistryState;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This bus's part in the cluster: finds or founds it, runs the engine, and lets everything go. */
final class RegistryMember implements RegistryStateMachine.Observer {
  private static final Logger log = LoggerFactory.getLogger(RegistryMember.class);

  private final RatisRegistryOptions options;
  private final SeedSource source;
  private final LinkNode links;
  private final Consumer<Throwable> failed;
  private final PeerBook peers = new PeerBook();
  private final AppliedIndex applied = new AppliedIndex();
  private final RegistryClock clock;
  private final RegistryStateMachine machine;
  private final ChangeStream changes;
  private final Admission admission;
  private final MemberThreads threads;
  private final MemberView view;
  private final VoterPolicy policy;
  private final Running.Parts parts;

  private volatile @Nullable DataDirectory directory;
  private volatile @Nullable Running running;
  private volatile @Nullable Joining way;
  private volatile CompletableFuture<Void> starting = CompletableFuture.completedFuture(null);

  RegistryMember(
      RatisRegistryOptions options,
      SeedSource source,
      LinkNode links,
      Clock wall,
      Consumer<Throwable> failed) {
    this.options = options;
    this.source = source;
    this.links = links;
    this.failed = failed;
    this.clock = new RegistryClock(wall, System::nanoTime);
    this.machine =
        new RegistryStateMachine(
            RegistryState.empty(options.limits(), 1), clock, applied::reached, this);
    this.changes = new ChangeStream(options.maxListeners(), options.bus().value());
    this.admission = new Admission(links, peers, options, () -> running, this::isAlive);
    this.policy = new VoterPolicy(options.voters(), options.replaceVoterAfter().toMillis());
    this.threads = new MemberThreads(options.bus().value());
    this.view =
        new MemberView(
            options.bus().value(), () -> links.identity().cluster(), machine, applied, clock);
    this.parts =
        new Running.Parts(
            options,
            links,
            links.useDedicatedLoop(Services.QUICK),
            peers,
            machine,
            clock,
            threads,
            view,
            policy);
  }

  CompletableFuture<Void> start() {
    threads.raftWorkers().execute(new FirstUse());
    CompletableFuture<Void> begun = CompletableFuture.runAsync(this::run, threads.starter());
    starting = begun;
    return begun;
  }

  private void run() {
    try {
      long startNanos = System.nanoTime();
      DataDirectory opened = DataDirectory.open(options.directory(), options.bus());
      directory = opened;
      changes.start(machine.state().snapshot());
      DataDirectory.Marker marker = opened.marker();
      UUID known = marker == null ? null : marker.cluster();
      Foundation foundation =
          new Foundation(
              options.bus(),
              links.identity().instance(),
              marker != null && marker.ready() ? known : null);
      if (known != null) {
        // It has decided before it ended: it promises nothing to anybody.
        foundation.beginFounding();
        links.identity().joined(known.toString());
      }
      Joining joining =
          new Joining(
              options, new Seeker(links, peers, options, source, foundation), peers, admission);
      way = joining;
      links.offer(Services.PROBE, (peer, request) -> onProbe(foundation, peer, request));
      links.offer(Services.JOIN, admission::onJoin);
      if (marker == null) {
        marker = joining.decide();
        links.identity().joined(marker.cluster().toString());
        opened.mark(marker);
      } else if (!source.seeds().isEmpty()) {
        // Whoever belongs to one cluster and is sent to another is told so before it runs.
        joining.look();
      }
      boolean fresh = !marker.ready() && !opened.hasEngineFiles(marker.cluster());
      if (fresh && !marker.founder()) {
        joining.beForgotten();
      }
      boolean founding = marker.founder() && !marker.ready();
      long foundNanos = System.nanoTime();
      Running started = Running.start(parts, opened, marker, founding, fresh);
      running = started;
      long runsNanos = System.nanoTime();
      if (founding) {
        // Before the first entry is on the disk, nobody may join.
        joining.awaitMembership(started.engine(), started.commands(), applied);
      }
      opened.mark(new DataDirectory.Marker(marker.cluster(), marker.bus(), true, marker.founder()));
      foundation.joined(marker.cluster());
      joining.awaitMembership(started.engine(), started.commands(), applied);
      view.fresh();
      log.info(
          "Member after {} ms: {} to find the cluster, {} to start the engine, {} to be up to date",
          millis(startNanos, System.nanoTime()),
          millis(startNanos, foundNanos),
          millis(foundNanos, runsNanos),
          millis(runsNanos, System.nanoTime()));
      threads.starter().execute(() -> joining.watch(started.engine(), this::silence, failed));
    } catch (IOException e) {
      throw new RegistryFailedException(String.valueOf(e.getMessage()), false);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RegistryClosedException("the registry was closed while it started", false);
    }
  }

  private static long millis(long fromNanos, long toNanos) {
    return TimeUnit.NANOSECONDS.toMillis(toNanos - fromNanos);
  }

  /** Whether a bus of that name holds a lease: then a fresh one is an impostor, or too early. */
  private boolean isAlive(String bus) {
    BusInfo info = machine.state().snapshot().bus(new BusId(bus));
    return info != null && info.state() != BusState.DOWN && !info.lease().isExpiredAt(clock.now());
  }

  private CompletableFuture<byte[]> onProbe(Foundation foundation, LinkPeer peer, byte[] request) {
    Probe.Question question = Probe.Question.decode(request);
    if (!question.bus().equals(options.bus()) && !isAlive(peer.bus())) {
      peers.learn(peer.bus(), PeerBook.unresolved(question.address()));
    }
    return CompletableFuture.completedFuture(foundation.answer(question).encode());
  }

  /**
   * Closes everything; the future completes at the deadline at the latest. What is still in the
   * middle of its start, and cannot be interrupted, is closed when it has started: until then the
   * directory is its own.
   */
  CompletableFuture<Void> stop(Duration deadline) {
    stopJoining();
    threads.beginEnd();
    CompletableFuture<Void> done = new CompletableFuture<>();
    inNewThread(
        () -> {
          if (!threads.endStarting() && !starting.isDone()) {
            log.warn(
                "The registry is still starting, and is closed when it has: its directory {} is in"
                    + " use until then",
                options.directory());
          }
          var unused =
              starting.handleAsync(
                  (nothing, error) -> {
                    release();
                    return done.complete(null);
                  },
                  this::inNewThread);
        });
    return done.completeOnTimeout(null, deadline.toNanos(), TimeUnit.NANOSECONDS);
  }

  private void inNewThread(Runnable task) {
    threads.named("stop").newThread(task).start();
  }

  private void release() {
    Running ran = running;
    if (ran != null) {
      ran.close();
    }
    links.withdraw(Services.PROBE);
    links.withdraw(Services.JOIN);
    changes.close();
    threads.end();
    DataDirectory opened = directory;
    if (opened != null) {
      try {
        opened.close();
      } catch (IOException e) {
        log.warn("The data directory did not close", e);
      }
    }
  }

  @Override
  public void onState(RegistryState state, List<RegistryChange> told) {
    changes.offer(state.snapshot(), told);
  }

  @Override
  public void onLeader(@Nullable String bus) {
    view.leader(bus);
    log.info("Leader: {}", bus == null ? "none" : bus);
  }

  @Override
  public void onFailure(Throwable cause) {
    failed.accept(cause);
  }

  RegistryState state() {
    return machine.state();
  }

  ChangeStream changes() {
    return changes;
  }

  ScheduledThreadPoolExecutor timers() {
    return threads.timers();
  }

  @Nullable CommandService commands() {
    Running now = running;
    return now == null ? null : now.commands();
  }

  @Nullable AdministrationService administration() {
    Running now = running;
    return now == null ? null : now.administration();
  }

  VoterPolicy policy() {
    return policy;
  }

  /** From now on this bus does not ask to be admitted again. */
  void stopJoining() {
    Joining joining = way;
    if (joining != null) {
      joining.stop();
    }
  }

  @Nullable Engine engine() {
    Running now = running;
    return now == null ? null : now.engine();
  }

  CompletableFuture<Void> awaitApplied(long index, Duration limit) {
    CompletableFuture<Void> reached = applied.await(index, limit);
    // Whoever waits goes on elsewhere than on the thread that applies.
    return reached.isDone()
        ? reached
        : reached.whenCompleteAsync((nothing, error) -> {}, threads.callers());
  }

  /** For how long this bus may not have heard what the leader knows. */
  Duration silence() {
    return view.silence(engine());
  }

  /** What there is and what is missing, for people. */
  String situation() {
    return view.describe(engine(), way);
  }

  ClusterStatus status() {
    return view.status(engine());
  }

  RegistryStatus report() {
    Running now = running;
    return view.report(now == null ? null : now.engine(), now == null ? null : now.gate());
  }

  List<ClusterMember> members() {
    return view.members(engine());
  }

  /** Asks a bus that waits for others to join here. */
  CompletableFuture<Probe.Answer> invite(Endpoint address, Duration deadline) {
    Probe.Question question =
        new Probe.Question(
            options.bus(),
            links.identity().instance(),
            options.advertised(),
            Probe.Wish.INVITATION);
    return links
        .call(
            PeerBook.unresolved(address),
            Services.COMMANDS,
            Services.PROBE,
            question.encode(),
            deadline)
        .thenApply(Probe.Answer::decode);
  }

  MemberView view() {
    return view;
  }
}
