package io.eventbus.journal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.CursorState;
import io.eventbus.journal.RecordResult.Done;
import io.eventbus.journal.RecordResult.JournalCreated;
import io.eventbus.journal.RecordResult.ProducersExpired;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.RecordResult.Purged;
import io.eventbus.journal.RecordResult.Redriven;
import io.eventbus.journal.RecordResult.Refused;
import io.eventbus.journal.RecordResult.Released;
import io.eventbus.journal.RecordResult.Settled;
import io.eventbus.journal.RecordResult.Taken;
import io.eventbus.journal.RecordResult.Trimmed;
import io.eventbus.journal.TakenRun;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResultFormatTest {
  private static final List<RecordResult> ALL = all();

  private static List<RecordResult> all() {
    List<RecordResult> all = new ArrayList<>();
    all.add(new Published(7, false));
    all.add(new Published(Long.MAX_VALUE, true));
    for (JournalRefusalReason reason : JournalRefusalReason.values()) {
      all.add(new Refused(reason, "why: ä"));
    }
    all.add(new JournalCreated(3));
    all.add(new Done());
    all.add(new Trimmed(4, true));
    all.add(new Purged(5, 6));
    all.add(new Released(8, false));
    all.add(new ProducersExpired(9, true));
    all.add(new CursorState(10, 11));
    all.add(new Taken(List.of(), 0));
    all.add(new Taken(List.of(new TakenRun(5, 9, 1), new TakenRun(1L << 40, 1L << 40, 1_000)), 12));
    all.add(new Settled(13));
    all.add(new Redriven(14, 15));
    return all;
  }

  private static ByteBuffer write(List<RecordResult> results) {
    ByteBuffer out = ByteBuffer.allocate(ResultFormat.maxSize(results));
    ResultFormat.write(out, results);
    return out.flip();
  }

  @Test
  void whatIsWrittenIsRead() throws EntryFormatException {
    for (Class<?> kind : RecordResult.class.getPermittedSubclasses()) {
      assertThat(ALL).hasAtLeastOneElementOfType(kind);
    }
    assertThat(ResultFormat.read(write(ALL))).isEqualTo(ALL);
    assertThat(ResultFormat.read(write(List.of()))).isEmpty();
  }

  @Test
  void aLongExplanationIsCut() throws EntryFormatException {
    Refused refused = new Refused(JournalRefusalReason.STORE_FULL, "ä".repeat(100_000));
    assertThat(ResultFormat.read(write(List.of(refused))))
        .singleElement()
        .isEqualTo(new Refused(JournalRefusalReason.STORE_FULL, "ä".repeat(1_024)));
  }

  @Test
  void moreRunsThanCanBeTakenAreRefused() {
    List<TakenRun> runs = Collections.nCopies(Taken.MAX_RUNS + 1, new TakenRun(1, 1, 1));
    ByteBuffer written = write(List.of(new Taken(runs, 0)));
    assertThatThrownBy(() -> ResultFormat.read(written))
        .isInstanceOf(EntryFormatException.class)
        .hasMessageContaining("runs: 65 at byte ");
  }

  @Test
  void whatIsCutOrChangedIsAnErrorOrOtherResults() {
    ByteBuffer all = write(ALL);
    for (int end = 0; end < all.limit(); end++) {
      ByteBuffer part = all.duplicate().limit(end);
      assertThatThrownBy(() -> ResultFormat.read(part))
          .isInstanceOf(EntryFormatException.class)
          .hasMessageContaining("results");
    }
    for (int at = 0; at < all.limit(); at++) {
      for (int bit = 0; bit < 8; bit++) {
        ByteBuffer changed = ByteBuffer.allocate(all.limit()).put(all.duplicate()).flip();
        changed.put(at, (byte) (changed.get(at) ^ 1 << bit));
        try {
          assertThat(ResultFormat.read(changed)).isNotNull();
        } catch (EntryFormatException e) {
          assertThat(e).hasMessageContaining("results");
        }
      }
    }
  }

  @Test
  void theFormatStaysAsItIs() {
    assertThat(
            write(
                    List.of(
                        new Published(1, true),
                        new Refused(JournalRefusalReason.SEQUENCE_GAP, "a"),
                        new Done()))
                .array())
        .startsWith(6, 2, 2, 2, 4)
        .isNotEmpty();
  }
}
