package io.eventbus.journal.ratis;

import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.KeepPolicy;
import io.eventbus.journal.ReadBatch;
import io.eventbus.journal.StoredEventReader;
import io.eventbus.journal.read.JournalReader;
import io.eventbus.journal.read.LatestReader;
import io.eventbus.journal.read.ReadRequest;
import io.eventbus.journal.rows.RowReader;
import io.eventbus.journal.state.Keys;
import io.eventbus.protocol.TopicFilter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reader of the topics of a journal that a filter matches. */
final class FilteredReader implements StoredEventReader {
  /** Maximum number of topics of which it remembers whether the filter matches. */
  private static final int MAX_KNOWN = 10_000;

  /** Access to the store as it is at the time of a call. */
  interface Rows {
    /** Reads by a lease that ends with the call. */
    <T> @Nullable T read(RowsFunction<T> reading);
  }

  /** Use of rows. */
  interface RowsFunction<T> {
    @Nullable T apply(RowReader rows, long stamp);
  }

  /** Check of what was read, after the lease has ended. */
  interface Check {
    /** Returns what of a batch is given out. */
    ReadBatch apply(KeepPolicy keep, int journal, ReadBatch batch);
  }

  private final int journal;
  private final TopicFilter filter;
  private final Rows rows;
  private final Supplier<@Nullable JournalDefinition> definition;
  private final Check check;
  private final JournalReader all;
  private final LatestReader latest;
  private final Map<Long, Boolean> known = new HashMap<>();

  FilteredReader(
      int journal,
      TopicFilter filter,
      Rows rows,
      Supplier<@Nullable JournalDefinition> definition,
      Check check) {
    this.journal = journal;
    this.filter = filter;
    this.rows = rows;
    this.definition = definition;
    this.check = check;
    all = new JournalReader(journal);
    latest = new LatestReader(journal);
  }

  @Override
  public @Nullable ReadBatch read(long from, long maxBytes) {
    JournalDefinition kept = definition.get();
    if (kept == null) {
      return null;
    }
    ReadBatch batch =
        rows.read(
            (now, stamp) -> {
              ReadRequest request =
                  new ReadRequest(from, topic -> matches(now, topic), maxBytes, stamp);
              return kept.keep() == KeepPolicy.LATEST
                  ? latest.read(now, request)
                  : all.read(now, request);
            });
    return batch == null ? null : check.apply(kept.keep(), journal, batch);
  }

  private boolean matches(RowReader now, long topic) {
    Boolean match = known.get(topic);
    if (match == null) {
      byte[] name = now.get(Keys.topicName(journal, topic));
      // A topic that is forgotten has no events any more; a number is never used again.
      match = name != null && filter.matches(new String(name, StandardCharsets.UTF_8));
      if (known.size() >= MAX_KNOWN) {
        known.clear();
      }
      known.put(topic, match);
    }
    return match;
  }
}
