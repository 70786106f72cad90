package io.eventbus.registry.ratis;

import io.eventbus.raft.RaftServices;
import io.eventbus.raft.RatisGroup;
import io.eventbus.raft.RatisServer;
import io.eventbus.raft.repair.LeaderCrashDetector;
import io.eventbus.registry.ratis.admin.AdministrationService;
import io.eventbus.registry.ratis.admin.LeaderAdministration;
import io.eventbus.registry.ratis.disk.DataDirectory;
import io.eventbus.registry.ratis.forward.CommandGate;
import io.eventbus.registry.ratis.forward.CommandService;
import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Resources of a bus that knows its cluster: Ratis, and the entries into its group. */
record MemberRuntime(
    RatisServer server,
    RatisGroup group,
    CommandGate gate,
    CommandService commands,
    AdministrationService administration,
    LeaderCrashDetector crashes) {
  private static final Logger log = LoggerFactory.getLogger(MemberRuntime.class);

  private static final int DUTY_MILLIS = 200;

  /** Starts Ratis and opens the entries into its group. */
  static MemberRuntime start(
      MemberContext context,
      DataDirectory directory,
      DataDirectory.Marker marker,
      boolean founder,
      boolean fresh)
      throws IOException {
    RatisRegistryOptions options = context.options();
    String self = options.bus().value();
    RatisServer server =
        RatisServer.start(
            new RatisServer.Options(
                self,
                options.advertised().toString(),
                directory.engine(),
                options.electionTimeoutMin(),
                options.electionTimeoutMax(),
                options.snapshotEntries()),
            new RatisServer.Wiring(
                context.links(),
                context.raftLoop(),
                context.peers(),
                context.threads().raftWorkers(),
                context.threads().raftCalls()),
            new RatisServer.Group(
                marker.cluster(),
                context.machine(),
                context.machine()::hasLogFailed,
                founder,
                fresh));
    RatisGroup group = server.group();
    CommandGate gate =
        new CommandGate(
            commands ->
                group
                    .submit(BatchMessage.of(commands))
                    .thenApply(answer -> ((ResultsMessage) answer).results()),
            context.clock()::stamp,
            options.gate(),
            (nanos, task) -> {
              Future<?> unused =
                  context.threads().timers().schedule(task, nanos, TimeUnit.NANOSECONDS);
            },
            System::nanoTime);
    MemberRuntime running =
        new MemberRuntime(
            server,
            group,
            gate,
            new CommandService(
                context.links(),
                context.peers(),
                group,
                gate,
                () -> context.machine().state().snapshot(),
                context.machine()::appliedIndex,
                self,
                context.threads().callers()),
            new AdministrationService(
                context.links(),
                context.peers(),
                group,
                new LeaderAdministration(group, gate, context.view(), context.policy()),
                self,
                context.threads().callers()),
            new LeaderCrashDetector(
                LeaderCrashDetector.Links.of(context.links(), context.peers()),
                group,
                context.threads().timers(),
                System::nanoTime,
                // A leader of this group is never silent for longer than half of that.
                options.electionTimeoutMin().dividedBy(2),
                self,
                RaftServices.RAFT));
    try {
      running.commands.open();
      running.administration.open();
      running.crashes.open();
      running.beginDuties(context, self);
      return running;
    } catch (RuntimeException e) {
      // The links may have been closed meanwhile.
      running.close();
      throw e;
    }
  }

  private void beginDuties(MemberContext context, String self) {
    LeaderDuties duties =
        new LeaderDuties(
            LeaderDuties.Raft.of(group),
            gate,
            context.clock(),
            () -> context.machine().state().snapshot(),
            System::nanoTime,
            context.policy(),
            self);
    Future<?> unused =
        context
            .threads()
            .timers()
            .scheduleWithFixedDelay(
                () -> perform(duties), DUTY_MILLIS, DUTY_MILLIS, TimeUnit.MILLISECONDS);
  }

  // An error must not end the timer.
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
    crashes.close();
    try {
      server.close();
    } catch (IOException e) {
      log.warn("The engine did not close", e);
    }
  }
}
