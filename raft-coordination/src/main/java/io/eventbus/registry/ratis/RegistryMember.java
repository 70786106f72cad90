package io.eventbus.registry.ratis;

import io.eventbus.link.LinkNode;
import io.eventbus.raft.AppliedIndex;
import io.eventbus.raft.RaftServices;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.members.PeerBook;
import io.eventbus.raft.repair.ClassWarmup;
import io.eventbus.registry.BusId;
import io.eventbus.registry.BusInfo;
import io.eventbus.registry.BusState;
import io.eventbus.registry.ClusterMember;
import io.eventbus.registry.CommitLatency;
import io.eventbus.registry.Endpoint;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryClosedException;
import io.eventbus.registry.RegistryFailedException;
import io.eventbus.registry.RegistryStatus;
import io.eventbus.registry.membership.VoterPolicy;
import io.eventbus.registry.ratis.admin.AdministrationService;
import io.eventbus.registry.ratis.admin.ClusterStatus;
import io.eventbus.registry.ratis.admin.Member;
import io.eventbus.registry.ratis.admin.MemberView;
import io.eventbus.registry.ratis.disk.DataDirectory;
import io.eventbus.registry.ratis.forward.CommandService;
import io.eventbus.registry.ratis.forward.Services;
import io.eventbus.registry.ratis.join.BootstrapElection;
import io.eventbus.registry.ratis.join.JoinAdmission;
import io.eventbus.registry.ratis.join.Joining;
import io.eventbus.registry.ratis.join.ProbeService;
import io.eventbus.registry.ratis.join.SeedScanner;
import io.eventbus.registry.ratis.join.SeedSource;
import io.eventbus.registry.state.RegistryState;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This bus's part in the cluster: finds or founds it, runs Ratis, and releases everything. */
final class RegistryMember implements RegistryStateMachine.Observer, Member {
  /** Channels that one thread drives: a command that comes in becomes entries that go out. */
  private static final Set<String> DEDICATED = Set.of(RaftServices.RAFT, Services.COMMANDS);

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
  private final JoinAdmission.Joiner self;
  private final JoinAdmission admission;
  private final ProbeService probes;
  private final MemberThreads threads;
  private final MemberView view;
  private final VoterPolicy policy;
  private final MemberContext context;

  private volatile @Nullable DataDirectory directory;
  private volatile @Nullable MemberRuntime running;
  private volatile @Nullable Joining joining;
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
    this.self = new JoinAdmission.Joiner(options.bus(), options.advertised());
    this.admission =
        new JoinAdmission(
            links, peers, self, options.snapshotEntries(), this::admitting, this::isAlive);
    this.probes = new ProbeService(links, peers, self, this::isAlive);
    this.policy = new VoterPolicy(options.voters(), options.replaceVoterAfter().toMillis());
    this.threads = new MemberThreads(options.bus().value());
    this.view =
        new MemberView(
            options.bus().value(),
            () -> links.identity().cluster(),
            () -> machine.state().snapshot(),
            applied,
            clock::now);
    this.context =
        new MemberContext(
            options,
            links,
            links.useDedicatedLoop(DEDICATED),
            peers,
            machine,
            clock,
            threads,
            view,
            policy);
  }

  CompletableFuture<Void> start() {
    threads.raftWorkers().execute(new ClassWarmup(RegistryWarmup::run));
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
      BootstrapElection election =
          new BootstrapElection(
              options.bus(),
              links.identity().instance(),
              marker != null && marker.ready() ? known : null);
      if (known != null) {
        // The bus has decided before it ended: it promises nothing to any bus.
        election.beginFounding();
        links.identity().joined(known.toString());
      }
      Joining entry =
          new Joining(
              options.bus(),
              new SeedScanner(links, peers, self, source, election),
              peers,
              admission);
      joining = entry;
      probes.open(election);
      admission.open();
      if (marker == null) {
        marker = entry.decide();
        links.identity().joined(marker.cluster().toString());
        opened.mark(marker);
      } else if (!source.seeds().isEmpty()) {
        // A bus that belongs to one cluster and is sent to another fails before it runs.
        entry.checkSeeds();
      }
      boolean fresh = !marker.ready() && !opened.hasEngineFiles(marker.cluster());
      if (fresh && !marker.founder()) {
        entry.beForgotten();
      }
      boolean founding = marker.founder() && !marker.ready();
      long foundNanos = System.nanoTime();
      MemberRuntime started = MemberRuntime.start(context, opened, marker, founding, fresh);
      running = started;
      long runsNanos = System.nanoTime();
      if (founding) {
        // Before the first entry is on the disk, no bus may join.
        entry.awaitMembership(started.group(), started.commands(), applied);
      }
      opened.mark(new DataDirectory.Marker(marker.cluster(), marker.bus(), true, marker.founder()));
      election.joined(marker.cluster());
      entry.awaitMembership(started.group(), started.commands(), applied);
      view.markUpToDate();
      log.info(
          "Member after {} ms: {} to find the cluster, {} to start the engine, {} to be up to date",
          millis(startNanos, System.nanoTime()),
          millis(startNanos, foundNanos),
          millis(foundNanos, runsNanos),
          millis(runsNanos, System.nanoTime()));
      threads.starter().execute(() -> entry.watch(started.group(), this::silence, failed));
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

  /**
   * Returns whether a bus of that name holds a lease: then a fresh one is an impostor, or too
   * early.
   */
  private boolean isAlive(String bus) {
    BusInfo info = machine.state().snapshot().bus(new BusId(bus));
    return info != null && info.state() != BusState.DOWN && !info.lease().isExpiredAt(clock.now());
  }

  private JoinAdmission.@Nullable Running admitting() {
    MemberRuntime now = running;
    return now == null ? null : new JoinAdmission.Running(now.group(), now.gate());
  }

  /**
   * Closes everything; the future completes at the deadline at the latest. Parts that are still
   * starting, and cannot be interrupted, are closed when they have started: until then the
   * directory is theirs.
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
    MemberRuntime ran = running;
    if (ran != null) {
      ran.close();
    }
    probes.close();
    admission.close();
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
  public void onState(RegistryState state, List<RegistryChange> next) {
    changes.offer(state.snapshot(), next);
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

  @Override
  public RegistryState state() {
    return machine.state();
  }

  ChangeStream changes() {
    return changes;
  }

  @Override
  public ScheduledThreadPoolExecutor timers() {
    return threads.timers();
  }

  @Override
  public @Nullable CommandService commands() {
    MemberRuntime now = running;
    return now == null ? null : now.commands();
  }

  @Override
  public @Nullable AdministrationService administration() {
    MemberRuntime now = running;
    return now == null ? null : now.administration();
  }

  @Override
  public VoterPolicy policy() {
    return policy;
  }

  @Override
  public void stopJoining() {
    Joining entry = joining;
    if (entry != null) {
      entry.stop();
    }
  }

  @Override
  public @Nullable RatisGroup group() {
    MemberRuntime now = running;
    return now == null ? null : now.group();
  }

  @Override
  public CompletableFuture<Void> awaitApplied(long index, Duration limit) {
    CompletableFuture<Void> reached = applied.await(index, limit);
    // Dependents must not run on the thread that applies.
    return reached.isDone()
        ? reached
        : reached.whenCompleteAsync((nothing, error) -> {}, threads.callers());
  }

  /** Returns the maximum time for which this bus may not have heard what the leader knows. */
  Duration silence() {
    return view.silence(group());
  }

  @Override
  public String situation() {
    Joining entry = joining;
    return view.describe(group(), entry == null ? "its start" : entry.waitsFor());
  }

  @Override
  public ClusterStatus status() {
    return view.status(group());
  }

  @Override
  public RegistryStatus report() {
    MemberRuntime now = running;
    return now == null
        ? view.report(null, CommitLatency.NONE)
        : view.report(now.group(), now.gate().latency());
  }

  @Override
  public List<ClusterMember> members() {
    return view.members(group());
  }

  @Override
  public CompletableFuture<BusId> invite(Endpoint address, Duration deadline) {
    return probes.invite(address, deadline);
  }

  @Override
  public MemberView view() {
    return view;
  }
}
