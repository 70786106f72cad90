package io.eventbus.registry.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.RegistryRefusalReason;
import io.eventbus.registry.history.Linearizability.Verdict;
import io.eventbus.registry.history.Operation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Checks of the checker, which must find all errors, and nothing else. */
class HistoryCheckTest {
  private final List<Operation> history = new ArrayList<>();

  private void add(
      Kind kind, String token, String expected, long invoked, long returned, Outcome outcome) {
    String id = "o" + history.size();
    history.add(
        new Operation(
            id, "c" + invoked % 3, kind, "t", token, expected, invoked, returned, outcome));
  }

  private void create(String token, long invoked, long returned, long version) {
    add(Kind.CREATE, token, "", invoked, returned, new Outcome.Applied(version));
  }

  private void change(String from, String to, long invoked, long returned, long version) {
    add(Kind.CHANGE, to, from, invoked, returned, new Outcome.Applied(version));
  }

  private void delete(String from, long invoked, long returned, long version) {
    add(Kind.DELETE, "", from, invoked, returned, new Outcome.Applied(version));
  }

  private void read(String token, long revision, long invoked, long returned, long version) {
    add(Kind.READ, "", "", invoked, returned, new Outcome.Value(token, revision, version));
  }

  private void unknown(Kind kind, String token, String expected, long invoked) {
    add(kind, token, expected, invoked, Long.MAX_VALUE, new Outcome.Unknown());
  }

  private Verdict verdict() {
    return Linearizability.check(history, 100_000).verdict();
  }

  private List<String> versions() {
    return VersionOrder.check(history);
  }

  @Test
  void aPlainHistoryIsFine() {
    create("a", 0, 10, 1);
    read("a", 1, 20, 30, 1);
    change("a", "b", 40, 50, 2);
    read("b", 2, 60, 70, 2);
    delete("b", 80, 90, 3);
    read("", 0, 100, 110, 3);
    assertThat(HistoryCheck.of(history).findings()).isEmpty();
  }

  @Test
  void readsThatOverlapAChangeMaySeeEither() {
    create("a", 0, 10, 1);
    change("a", "b", 20, 60, 2);
    read("a", 1, 25, 50, 1);
    read("b", 2, 26, 55, 2);
    assertThat(HistoryCheck.of(history).findings()).isEmpty();
  }

  @Test
  void aStaleReadIsFound() {
    create("a", 0, 10, 1);
    change("a", "b", 20, 30, 2);
    read("a", 1, 40, 50, 1);
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
    assertThat(versions()).singleElement().asString().contains("is older than");
    assertThat(HistoryCheck.of(history).findings())
        .anySatisfy(
            text ->
                assertThat(text)
                    .contains("no order is possible")
                    .contains("then the configuration is b")
                    .contains("! ")
                    .contains("read => Value[token=a, revision=1, version=1]"));
  }

  @Test
  void readsThatGoBackAreFoundThoughEachMightBeRight() {
    create("a", 0, 10, 1);
    change("a", "b", 20, 100, 2);
    read("b", 2, 30, 40, 2);
    read("a", 1, 50, 60, 1);
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
  }

  @Test
  void aLostUpdateIsFound() {
    create("a", 0, 10, 1);
    change("a", "b", 20, 30, 2);
    change("a", "c", 25, 35, 3);
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
  }

  @Test
  void anAcknowledgedCreationThatIsGoneIsFound() {
    create("a", 0, 10, 1);
    read("", 0, 20, 30, 5);
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
  }

  @Test
  void aCommandThatIsAppliedAgainIsFound() {
    create("a", 0, 10, 1);
    delete("a", 20, 30, 2);
    read("", 0, 40, 50, 2);
    read("a", 3, 60, 70, 3);
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
    assertThat(versions()).singleElement().asString().contains("two revisions, 1 and 3");
  }

  @Test
  void aCommandOfUnknownOutcomeIsAppliedAtMostOnce() {
    create("a", 0, 10, 1);
    unknown(Kind.CHANGE, "b", "a", 20);
    read("b", 2, 30, 40, 2);
    change("b", "c", 50, 60, 3);
    read("c", 3, 70, 80, 3);
    assertThat(verdict()).isEqualTo(Verdict.LINEARIZABLE);
    read("b", 4, 90, 95, 4);
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
  }

  @Test
  void aCommandOfUnknownOutcomeMayComeLateOrNever() {
    unknown(Kind.CREATE, "a", "", 0);
    read("", 0, 10, 20, 0);
    create("b", 30, 40, 1);
    assertThat(verdict()).isEqualTo(Verdict.LINEARIZABLE);
    delete("b", 50, 60, 2);
    read("a", 3, 70, 80, 3);
    assertThat(verdict()).isEqualTo(Verdict.LINEARIZABLE);
  }

  @Test
  void aRefusalHasToHaveItsReason() {
    create("a", 0, 10, 1);
    add(Kind.CREATE, "b", "", 20, 30, new Outcome.Refused(RegistryRefusalReason.TOPIC_EXISTS, 2));
    assertThat(verdict()).isEqualTo(Verdict.LINEARIZABLE);
    add(
        Kind.CHANGE,
        "c",
        "a",
        40,
        50,
        new Outcome.Refused(RegistryRefusalReason.STALE_REVISION, 3));
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
  }

  @Test
  void findsReadsOfCommandsThatWereNotApplied() {
    add(Kind.CREATE, "a", "", 0, 10, new Outcome.NotApplied());
    read("a", 1, 20, 30, 1);
    assertThat(verdict()).isEqualTo(Verdict.NOT_LINEARIZABLE);
    assertThat(versions()).singleElement().asString().contains("not applied was read");
  }

  @Test
  void twoCommandsOfOneVersionAreFound() {
    create("a", 0, 10, 1);
    change("a", "b", 5, 20, 1);
    assertThat(versions()).singleElement().asString().contains("two commands have one version");
  }

  @Test
  void aSearchThatTakesTooLongIsGivenUp() {
    create("a", 0, 10, 1);
    for (int i = 0; i < 18; i++) {
      unknown(Kind.CHANGE, "u" + i, i == 0 ? "a" : "u" + (i - 1), 20 + i);
    }
    read("nothing", 9, 100, 110, 9);
    Linearizability.Result result = Linearizability.check(history, 1_000);
    assertThat(result.verdict()).isEqualTo(Verdict.UNDECIDED);
    assertThat(result.explanation()).contains("gave up after 1001 steps");
  }

  /** Accepts histories made by running the rules one after the other, whatever overlaps. */
  @Test
  void acceptsAnAtomicRegistryAndFindsASingleWrongRead() {
    for (int seed = 0; seed < 50; seed++) {
      history.clear();
      String present = record(new Random(seed));
      assertThat(verdict()).as("seed %d", seed).isEqualTo(Verdict.LINEARIZABLE);
      assertThat(versions()).as("seed %d", seed).isEmpty();
      read(present.equals("k0") ? "k1" : "k0", 7, 100_000, 100_001, 100_000);
      assertThat(verdict()).as("seed %d", seed).isEqualTo(Verdict.NOT_LINEARIZABLE);
    }
  }

  /** Uses as many commands as {@code faults.Topics} lets a topic have. */
  @Test
  void creationsOfUnknownOutcomeAreDecidedWithinTheBound() {
    for (int seed = 0; seed < 20; seed++) {
      history.clear();
      for (int i = 0; i < 6; i++) {
        unknown(Kind.CREATE, "u" + i, "", i);
      }
      String present = record(new Random(seed));
      assertThat(Linearizability.check(history, HistoryCheck.MAX_STEPS / 10).verdict())
          .as("seed %d", seed)
          .isEqualTo(Verdict.LINEARIZABLE);
      read(present.equals("k0") ? "k1" : "k0", 7, 100_000, 100_001, 100_000);
      assertThat(Linearizability.check(history, HistoryCheck.MAX_STEPS).verdict())
          .as("seed %d", seed)
          .isEqualTo(Verdict.NOT_LINEARIZABLE);
    }
  }

  /** Records operations that each take effect at 10 i and overlap several neighbours. */
  private String record(Random random) {
    String present = "";
    long revision = 0;
    long version = 0;
    for (int i = 0; i < 200; i++) {
      long at = 10L * (i + 10);
      long invoked = at - 1 - random.nextInt(60);
      long returned = at + 1 + random.nextInt(60);
      String token = "k" + i;
      switch (random.nextInt(4)) {
        case 0 -> {
          version++;
          if (present.isEmpty()) {
            create(token, invoked, returned, version);
            present = token;
            revision = version;
          } else {
            add(
                Kind.CREATE,
                token,
                "",
                invoked,
                returned,
                new Outcome.Refused(RegistryRefusalReason.TOPIC_EXISTS, version));
          }
        }
        case 1 -> {
          if (!present.isEmpty()) {
            version++;
            change(present, token, invoked, returned, version);
            present = token;
            revision = version;
          }
        }
        case 2 -> {
          if (!present.isEmpty() && random.nextInt(3) == 0) {
            version++;
            delete(present, invoked, returned, version);
            present = "";
            revision = 0;
          }
        }
        default -> read(present, revision, invoked, returned, version);
      }
    }
    return present;
  }
}
