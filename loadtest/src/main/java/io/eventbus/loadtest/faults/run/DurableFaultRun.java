package io.eventbus.loadtest.faults.run;

import io.eventbus.loadtest.driver.DriverException;
import io.eventbus.loadtest.faults.buses.BusAnswers.DeadEvent;
import io.eventbus.loadtest.faults.buses.FaultBus;
import io.eventbus.loadtest.faults.buses.FaultBuses;
import io.eventbus.loadtest.faults.buses.StoredRows;
import io.eventbus.loadtest.faults.clients.FaultCrowd;
import io.eventbus.loadtest.faults.clients.FaultTopics;
import io.eventbus.loadtest.faults.clients.FinalReader;
import io.eventbus.loadtest.faults.clients.Probe;
import io.eventbus.loadtest.faults.clients.Recorder;
import io.eventbus.loadtest.faults.history.History;
import io.eventbus.loadtest.faults.history.HistoryVerdict;
import io.eventbus.loadtest.faults.history.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Run of buses with durable topics, their clients, and faults. When the faults have ended, every
 * bus has to serve everything again within a minute; then the journal is read at each bus, and all
 * that clients were told is judged.
 */
public final class DurableFaultRun {
  private static final Duration SERVED = Duration.ofSeconds(60);
  private static final Duration FINAL_READ = Duration.ofMinutes(3);
  private static final Duration JOURNAL = Duration.ofSeconds(60);
  private static final int COMPARISONS = 5;
  private static final Duration CALM = Duration.ofSeconds(1);

  private final DurableFaultPlan plan;
  private final Recorder recorder = new Recorder();
  private final FaultDiary diary;
  private final FaultBuses buses;
  private final Map<String, Long> figures = new TreeMap<>();

  private DurableFaultRun(DurableFaultPlan plan, FaultBuses buses, Consumer<String> out) {
    this.plan = plan;
    this.buses = buses;
    this.diary = new FaultDiary(recorder::now, out);
  }

  /**
   * Runs a plan.
   *
   * @param out is told the faults while they happen
   * @throws DriverException if the buses do not even start
   */
  public static DurableFaultResult run(DurableFaultPlan plan, Consumer<String> out)
      throws InterruptedException {
    try (FaultBuses buses =
        FaultBuses.prepare(
            new FaultBuses.Settings(
                plan.buses(),
                plan.jar(),
                plan.jvmOptions(),
                plan.directory(),
                plan.needs(FaultKind.Need.DISKS),
                plan.needs(FaultKind.Need.FAILING_DISKS),
                plan.needs(FaultKind.Need.NETWORK)))) {
      return new DurableFaultRun(plan, buses, out).run();
    }
  }

  private DurableFaultResult run() throws InterruptedException {
    buses.all().forEach(FaultBus::start);
    buses.all().forEach(FaultInjector::awaitReady);
    FaultBus first = buses.all().get(0);
    if (!FaultBuses.await(
        () -> first.state().createJournal(FaultTopics.JOURNAL, FaultTopics.ALL), JOURNAL)) {
      throw new DriverException(first.name() + " creates no journal:\n" + first.tail());
    }
    List<Reading> finals = new ArrayList<>();
    try (FaultCrowd crowd =
        new FaultCrowd(
            buses.all().stream().map(FaultBus::url).toList(), recorder, plan.seed(), plan.rate())) {
      crowd.start();
      if (!FaultBuses.await(() -> recorder.confirmed() > 0, SERVED)) {
        recorder.problem("nothing is confirmed, without any fault");
      }
      FaultInjector injector = new FaultInjector(buses, plan.kinds(), plan.seed(), diary);
      SettlementPoll poll = SettlementPoll.start(buses, crowd);
      try {
        TimeUnit.MILLISECONDS.sleep(CALM.toMillis());
        injector.run(plan.length());
        diary.note("all faults have ended");
        serveAgain();
        crowd.stopPublishers();
        awaitReaders(crowd, awaitSameEnd());
        drainQueues(crowd);
      } finally {
        poll.stop();
      }
      crowd.stopReaders();
      finals.addAll(finalReads(awaitSameEnd()));
      findDamage(injector, finals);
      if (buses.all().size() > 1) {
        compareRows(injector);
      }
    } catch (DriverException e) {
      recorder.problem(String.valueOf(e.getMessage()));
    }
    return result(finals);
  }

  private void serveAgain() throws InterruptedException {
    long begin = recorder.now();
    for (FaultBus bus : buses.all()) {
      FaultInjector.awaitReady(bus);
      if (!Probe.publish(bus.name(), bus.url(), recorder, SERVED)) {
        recorder.problem(bus.name() + " confirms nothing after " + SERVED.toSeconds() + " s");
      }
    }
    figures.put("served again, ms", (recorder.now() - begin) / 1_000_000);
  }

  /** Waits until all buses have the same end of the journal, and returns it. */
  private long awaitSameEnd() {
    Map<String, Long> ends = new HashMap<>();
    boolean same =
        FaultBuses.await(
            () -> {
              Map<String, Long> before = Map.copyOf(ends);
              for (FaultBus bus : buses.all()) {
                OptionalLong last = bus.state().lastPosition(FaultTopics.JOURNAL);
                last.ifPresent(position -> ends.put(bus.name(), position));
              }
              // Twice, because something may still be on its way.
              return ends.size() == buses.all().size()
                  && ends.equals(before)
                  && ends.values().stream().distinct().count() == 1;
            },
            SERVED);
    if (!same) {
      recorder.problem("the buses have not the same end after a minute: " + ends);
    }
    return Math.max(
        recorder.lastConfirmed(),
        ends.values().stream().mapToLong(Long::longValue).max().orElse(0));
  }

  private void awaitReaders(FaultCrowd crowd, long last) {
    if (!FaultBuses.await(() -> crowd.behind(last).isEmpty(), SERVED)) {
      recorder.problem("not at the end, " + last + ", after a minute: " + crowd.behind(last));
    }
    BusesAsked asked = new BusesAsked(buses);
    for (String subscription : FaultCrowd.SUBSCRIPTIONS) {
      if (!FaultBuses.await(() -> asked.settled(subscription).orElse(-1) >= last, SERVED)) {
        recorder.problem(
            "durable subscription "
                + subscription
                + " is settled up to "
                + asked.settled(subscription)
                + " after a minute (expected: "
                + last
                + ")");
      }
    }
  }

  private void drainQueues(FaultCrowd crowd) {
    crowd.drainQueues();
    BusesAsked asked = new BusesAsked(buses);
    for (String queue : FaultCrowd.QUEUES) {
      List<DeadEvent> dead = new ArrayList<>();
      if (!FaultBuses.await(
          () -> {
            Optional<List<DeadEvent>> found = asked.drained(queue);
            found.ifPresent(dead::addAll);
            return found.isPresent();
          },
          SERVED)) {
        recorder.problem("work queue " + queue + " is not empty after a minute");
      }
      dead.forEach(
          each -> crowd.dead(queue, each.position(), each.attempts(), each.reason(), each.time()));
    }
  }

  private List<Reading> finalReads(long last) throws InterruptedException {
    List<Reading> finals = new ArrayList<>();
    for (FaultBus bus : buses.all()) {
      FinalReader.read(bus.name(), bus.url(), last, recorder, FINAL_READ)
          .ifPresentOrElse(
              finals::add, () -> recorder.problem(bus.name() + " takes no client to read"));
    }
    return finals;
  }

  private void findDamage(FaultInjector injector, List<Reading> finals) {
    long all = 0;
    for (Reading reading : finals) {
      long damaged = FinalReader.damaged(reading);
      all += damaged;
      // A bus of several gets the events from another one.
      if (damaged > 0 && (finals.size() > 1 || !injector.isChanged(reading.reader()))) {
        recorder.problem(
            reading.reader() + " tells " + damaged + " events to be damaged (expected: none)");
      }
    }
    figures.put("told as damaged at the end", all);
  }

  /** Ends all buses, and compares what is on their disks. */
  private void compareRows(FaultInjector injector) {
    for (int i = 0; i < COMPARISONS; i++) {
      // All at once, because the last one writes entries that the others do not get.
      buses.all().forEach(FaultBus::terminate);
      buses.all().forEach(FaultBus::stop);
      injector.undoFlips();
      Optional<List<String>> differences =
          StoredRows.differences(buses.all(), rows -> figures.put("rows compared", rows));
      if (differences.isPresent()) {
        differences.get().forEach(text -> recorder.problem("not the same rows: " + text));
        return;
      }
      buses.all().forEach(FaultBus::start);
      buses.all().forEach(FaultInjector::awaitReady);
      awaitSameEnd();
    }
    recorder.problem("the buses never ended with the same last entry");
  }

  private DurableFaultResult result(List<Reading> finals) {
    History history =
        recorder.history(finals, diary.windows().stream().flatMap(FaultWindow::faults).toList());
    HistoryVerdict verdict =
        finals.isEmpty() ? new HistoryVerdict(Map.of(), List.of()) : HistoryVerdict.of(history);
    figures.putAll(HistoryFigures.of(history));
    figures.put("moves of clients", recorder.moves());
    figures.put("work: settlements too late", recorder.late());
    List<String> problems = new ArrayList<>(recorder.problems());
    if (finals.isEmpty()) {
      problems.add("nothing was judged, because no bus was read at the end");
    }
    return new DurableFaultResult(
        figures,
        diary.counts(),
        diary.recoveries(),
        FaultGaps.of(history, diary.windows()),
        verdict,
        problems,
        diary.lines());
  }
}
