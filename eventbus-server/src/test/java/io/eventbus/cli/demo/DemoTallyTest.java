package io.eventbus.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.cli.client.FakeEvent;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DemoTallyTest {
  private static final List<Flight> FLIGHTS =
      List.of(
          flight(0, "flights.JFK.departed"),
          flight(1, "flights.JFK.departed"),
          flight(2, "flights.LGA.departed"),
          flight(3, "flights.JFK.departed"));

  private final DemoTally tally = new DemoTally(FLIGHTS, f -> f.airport().equals("JFK"));
  private final DemoTally.Member member = tally.member();

  @Test
  void allInOrderIsGood() {
    accept(member, 0, 1, 3);
    assertThat(tally.verdict()).isEqualTo(new DemoTally.Verdict(3, 3, 0, 0, 0, 0));
    assertThat(tally.verdict().good()).isTrue();
    assertThat(tally.complete()).isTrue();
  }

  @Test
  void aMissingEventFails() {
    accept(member, 0, 3);
    assertThat(tally.complete()).isFalse();
    assertBad(new DemoTally.Verdict(3, 2, 1, 0, 0, 0));
  }

  @Test
  void aDoubledEventFails() {
    accept(member, 0, 1, 1, 3);
    assertBad(new DemoTally.Verdict(3, 4, 0, 1, 0, 0));
  }

  @Test
  void aDoubledAndAMissingEventFail() {
    accept(member, 0, 1, 1);
    assertThat(tally.complete()).isTrue();
    assertBad(new DemoTally.Verdict(3, 3, 1, 1, 0, 0));
  }

  @Test
  void outOfOrder() {
    accept(member, 1, 0, 3);
    assertBad(new DemoTally.Verdict(3, 3, 0, 0, 1, 0));
  }

  @Test
  void notExpected() {
    accept(member, 0, 1, 2, 3);
    assertBad(new DemoTally.Verdict(3, 4, 0, 0, 0, 1));
  }

  @Test
  void otherContent() {
    Flight first = FLIGHTS.get(0);
    member.accept(event(first, "0", "{}"));
    member.accept(event(first, "x", first.payload()));
    member.accept(event(first, "-1", first.payload()));
    member.accept(event(first, "99", first.payload()));
    member.accept(event(first, "1", FLIGHTS.get(1).payload() + " "));
    assertBad(new DemoTally.Verdict(3, 5, 3, 0, 0, 5));
  }

  @Test
  void membersOfAGroupShareAndEachHasItsOrder() {
    DemoTally.Member other = tally.member();
    accept(other, 3);
    accept(member, 0, 1);
    assertThat(tally.verdict().good()).isTrue();
    accept(other, 1);
    assertThat(tally.verdict().doubled()).isOne();
  }

  @Test
  void anEventOfAJournalAfterALaterOneFails() {
    member.accept(event(0).at(2));
    member.accept(event(1).at(5));
    assertThat(tally.verdict().disordered()).isZero();
    // The right one by its line.
    member.accept(event(3).at(4));
    assertBad(new DemoTally.Verdict(3, 3, 0, 0, 1, 0));
  }

  @Test
  void deviationsAreCountedOverAll() {
    DemoTally.Verdict good = new DemoTally.Verdict(5, 5, 0, 0, 0, 0);
    assertThat(DemoTally.Verdict.deviations(List.of(good, good))).isEmpty();
    assertThat(
            DemoTally.Verdict.deviations(
                List.of(
                    good,
                    new DemoTally.Verdict(5, 5, 2, 1, 0, 1),
                    new DemoTally.Verdict(5, 5, 0, 0, 4, 0))))
        .containsExactly(
            "2 of 3 subscribers did not get exactly the events that the data says, in order:"
                + " 2 missing, 1 doubled, 4 out of order, 1 wrong");
  }

  private void assertBad(DemoTally.Verdict expected) {
    assertThat(tally.verdict()).isEqualTo(expected);
    assertThat(tally.verdict().good()).isFalse();
  }

  private static void accept(DemoTally.Member member, int... lines) {
    for (int line : lines) {
      member.accept(event(line));
    }
  }

  private static FakeEvent event(int line) {
    Flight flight = FLIGHTS.get(line);
    return event(flight, Integer.toString(line), flight.payload());
  }

  private static FakeEvent event(Flight flight, String line, String payload) {
    return FakeEvent.of(flight.topic(), flight.key(), Map.of(DemoTally.LINE_HEADER, line), payload);
  }

  private static Flight flight(int line, String topic) {
    String[] tokens = topic.split("\\.", -1);
    return new Flight(line, topic, tokens[1], tokens[2], "N" + line, line, "{\"n\":" + line + "}");
  }
}
