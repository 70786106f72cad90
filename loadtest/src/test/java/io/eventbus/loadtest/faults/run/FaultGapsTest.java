package io.eventbus.loadtest.faults.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.faults.history.ClientConnection;
import io.eventbus.loadtest.faults.history.EventName;
import io.eventbus.loadtest.faults.history.History;
import io.eventbus.loadtest.faults.history.Publication;
import io.eventbus.loadtest.faults.history.PublishAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Times without a confirmation, computed from histories. Times are milliseconds. */
class FaultGapsTest {
  private static final long MILLI = 1_000_000;

  private final List<ClientConnection> connections = new ArrayList<>();
  private final List<Publication> publications = new ArrayList<>();

  private void connected(String client, String bus, long since) {
    connections.add(new ClientConnection(client, bus, since * MILLI));
  }

  private void confirmed(String publisher, long... times) {
    for (long time : times) {
      answered(publisher, time, new PublishAnswer.Stored(1));
    }
  }

  private void answered(String publisher, long time, PublishAnswer answer) {
    publications.add(
        new Publication(
            new EventName(publisher, "t", publications.size()),
            Publication.NOTHING,
            0,
            time * MILLI,
            answer));
  }

  private static FaultWindow kill(boolean alone, String bus, long begin, long end) {
    return new FaultWindow(FaultKind.KILL, List.of(bus), begin * MILLI, end * MILLI, alone);
  }

  private FaultGaps gaps(FaultWindow... windows) {
    return FaultGaps.of(
        new History(
            connections,
            publications,
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            Set.of()),
        List.of(windows));
  }

  private FaultGap gap(FaultWindow window) {
    return gaps(window).faults().get(0);
  }

  @Test
  void aGapIsBetweenTwoConfirmationsOfAnyPublishers() {
    confirmed("b", 1_700, 1_710, 2_990);
    confirmed("a", 990, 1_720, 1_995);

    // From 990, which is before the fault, to 1,700; the next longest is 1,995 to 2,990.
    assertThat(gap(kill(true, "bus-1", 1_000, 1_990)).millis()).isEqualTo(710);
  }

  @Test
  void aGapMayBeginLateAndEndAfterTheWindow() {
    confirmed("a", 990, 1_010, 1_100, 1_995, 5_000);

    assertThat(gap(kill(true, "bus-1", 1_000, 1_900)).millis()).isEqualTo(895);
  }

  @Test
  void aGapOutsideTheWindowDoesNotCount() {
    confirmed("a", 10, 900, 1_005, 1_500, 1_900, 2_000, 9_000);

    assertThat(gap(kill(true, "bus-1", 1_000, 2_000)).millis()).isEqualTo(495);
  }

  @Test
  void anythingButAConfirmationEndsNoGap() {
    confirmed("a", 1_000, 1_900);
    answered("a", 1_300, new PublishAnswer.Unknown("TimedOut"));
    answered("a", 1_400, new PublishAnswer.Refused("EXPECTATION_FAILED"));

    assertThat(gap(kill(true, "bus-1", 1_000, 1_900)).millis()).isEqualTo(900);
  }

  @Test
  void withoutAConfirmationAGapIsAsLongAsTheWindow() {
    assertThat(gap(kill(true, "bus-1", 1_000, 4_000)).millis()).isEqualTo(3_000);

    confirmed("a", 1_500);
    assertThat(gap(kill(true, "bus-1", 1_000, 4_000)).millis()).isEqualTo(2_500);
  }

  @Test
  void publishersElsewhereAreThoseThatWereConnectedWithOtherBuses() {
    connected("moved-away", "bus-1", 0);
    connected("moved-here", "bus-2", 0);
    connected("elsewhere", "bus-3", 0);
    connected("moved-here", "bus-1", 500);
    connected("moved-away", "bus-2", 600);
    // After the fault.
    connected("moved-here", "bus-3", 1_100);
    connected("late", "bus-3", 1_100);
    confirmed("moved-here", 990, 1_200);
    confirmed("late", 1_300);
    confirmed("elsewhere", 980, 1_600);
    confirmed("moved-away", 970, 1_500, 1_900);

    FaultGap gap = gap(kill(true, "bus-1", 1_000, 1_900));

    assertThat(gap.millis()).isEqualTo(300);
    assertThat(gap.elsewhereMillis()).isEqualTo(520);
  }

  @Test
  void aReaderIsNoPublisherElsewhere() {
    connected("a", "bus-1", 0);
    connected("reader", "bus-2", 0);
    confirmed("a", 990, 1_900);

    assertThat(gap(kill(true, "bus-1", 1_000, 1_900)).elsewhereMillis()).isNull();
  }

  @Test
  void faultsThatWereAloneHaveSummariesOfTheirOwn() {
    connected("a", "bus-1", 0);
    confirmed("a", 1_000, 1_100, 2_000, 2_700, 3_000, 3_300, 4_000, 8_000);

    FaultGaps gaps =
        gaps(
            kill(true, "bus-1", 1_000, 1_100),
            kill(true, "bus-2", 2_000, 2_700),
            kill(true, "bus-2", 3_000, 3_300),
            kill(false, "bus-1", 4_000, 8_000));

    assertThat(gaps.summaries())
        .containsExactly(
            new FaultGaps.Summary(
                FaultKind.KILL,
                true,
                3,
                new FaultGaps.Spread(300, 700),
                new FaultGaps.Spread(700, 700)),
            new FaultGaps.Summary(
                FaultKind.KILL, false, 1, new FaultGaps.Spread(4_000, 4_000), null));
  }

  @Test
  void theDiaryKnowsWhichFaultsWereAlone() {
    long[] clock = {5};
    FaultDiary diary = new FaultDiary(() -> clock[0], line -> {});
    // Its victim was away already.
    diary.inflicted(FaultKind.PAUSE);
    diary.begins(FaultKind.KILL_ALL, "bus-1");
    clock[0] = 7;
    diary.begins(FaultKind.KILL_ALL, "bus-2");
    diary.inflicted(FaultKind.KILL_ALL);
    clock[0] = 9;
    diary.allEnded();
    diary.begins(FaultKind.KILL, "bus-1");
    diary.inflicted(FaultKind.KILL);
    diary.begins(FaultKind.DRAIN, "bus-2");
    diary.inflicted(FaultKind.DRAIN);
    assertThat(diary.windows()).hasSize(1);
    clock[0] = 10;
    diary.allEnded();

    assertThat(diary.windows())
        .containsExactly(
            new FaultWindow(FaultKind.KILL_ALL, List.of("bus-1", "bus-2"), 5, 9, true),
            new FaultWindow(FaultKind.KILL, List.of("bus-1"), 9, 10, false),
            new FaultWindow(FaultKind.DRAIN, List.of("bus-2"), 9, 10, false));
  }
}
