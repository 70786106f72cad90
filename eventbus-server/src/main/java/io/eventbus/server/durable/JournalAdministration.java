package io.eventbus.server.durable;

import io.eventbus.journal.ConsumerView;
import io.eventbus.journal.CursorView;
import io.eventbus.journal.DeadEvent;
import io.eventbus.journal.JournalCatalog;
import io.eventbus.journal.JournalDefinition;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalRefusalReason;
import io.eventbus.journal.Journals;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.WaitingEvents;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.advisory.Advisory.JournalChange;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Journals as operators see and change them. Any thread.
 *
 * <p>Stages fail with {@link JournalRefusedException} for a refusal, and with {@link
 * io.eventbus.journal.JournalsUnavailableException} where the outcome is not known. Methods that
 * return no stage wait for the disk, and throw the latter.
 */
public final class JournalAdministration {
  private final Journals journals;
  private final JournalCluster cluster;
  private final JournalQuotas quotas;
  private final Consumer<Advisory> advisories;
  private final Runnable changed;

  // Definitions are compared with each other, and so change by turns.
  private CompletableFuture<?> lastChange = CompletableFuture.completedFuture(null);

  /**
   * Creates the administration of journals.
   *
   * @param cluster the buses that keep these journals
   * @param quotas decide whether an account may have one more
   * @param advisories told of each change
   * @param changed called before a change of the definitions is told
   */
  public JournalAdministration(
      Journals journals,
      JournalCluster cluster,
      JournalQuotas quotas,
      Consumer<Advisory> advisories,
      Runnable changed) {
    this.journals = journals;
    this.cluster = cluster;
    this.quotas = quotas;
    this.advisories = advisories;
    this.changed = changed;
  }

  /**
   * Returns journals sorted by account and name; fewer than {@code limit} only if there are no
   * more.
   *
   * @param account only those of this account, empty for the default one; null for all
   * @param after only journals greater than this one; null for all
   */
  public List<JournalInfo> list(@Nullable String account, @Nullable JournalName after, int limit) {
    return journals.catalog().all().stream()
        .map(JournalInfo::of)
        .filter(info -> account == null || info.name().account().equals(account))
        .filter(info -> after == null || info.name().compareTo(after) > 0)
        .sorted((one, other) -> one.name().compareTo(other.name()))
        .limit(limit)
        .toList();
  }

  /** Returns a journal, or nothing if there is none of this name. */
  public Optional<JournalInfo> find(JournalName name) {
    return Optional.ofNullable(journals.catalog().find(name.inShard())).map(JournalInfo::of);
  }

  /** Returns what a journal holds, or nothing if it is gone; waits for the disk. */
  public Optional<JournalFigures> figures(JournalInfo journal) {
    return Optional.ofNullable(journals.figures(journal.number()));
  }

  /** Returns the groups of replicas in which the journals are; none for a bus that is alone. */
  public List<ShardView> shards() {
    return cluster.shards();
  }

  /**
   * Moves the vote of a bus on the journals to another one, as {@link JournalCluster#moveVote}
   * says.
   */
  public CompletionStage<Void> moveVote(String bus, boolean leaves) {
    return cluster.moveVote(bus, leaves);
  }

  /** Takes the replica of a bus away, as {@link JournalCluster#removeReplica} says. */
  public CompletionStage<Void> removeReplica(String bus) {
    return cluster.removeReplica(bus);
  }

  /** Returns what is lost if a bus stops now, for people; null for nothing. */
  public @Nullable String warning(String bus) {
    return cluster.warning(bus);
  }

  /**
   * Returns the cursors of a journal, sorted by name; waits for the disk.
   *
   * @param after name after which they begin, empty for the first
   */
  public List<CursorView> cursors(JournalInfo journal, String after, int limit) {
    return journals.cursors(journal.number(), after, limit);
  }

  /**
   * Returns a cursor of a journal, or nothing if there is none of this name; waits for the disk.
   */
  public Optional<CursorView> cursor(JournalInfo journal, String cursor) {
    return Optional.ofNullable(journals.cursor(journal.number(), cursor));
  }

  /**
   * Returns the consumers of a shared cursor, sorted by epoch; waits for the disk.
   *
   * @param after epoch after which they begin, 0 for the first
   */
  public List<ConsumerView> consumers(JournalInfo journal, String cursor, long after, int limit) {
    return journals.consumers(journal.number(), cursor, after, limit);
  }

  /**
   * Returns what waits of a shared cursor, sorted by due time and position; waits for the disk.
   *
   * @param due time from which on it is returned, in milliseconds of the shard's time
   * @param after position of that time after which it begins, 0 for the first
   */
  public List<WaitingEvents> waiting(
      JournalInfo journal, String cursor, long due, long after, int limit) {
    return journals.waiting(journal.number(), cursor, due, after, limit);
  }

  /**
   * Returns the dead letters of a shared cursor, sorted by position; waits for the disk.
   *
   * @param after position after which they begin, 0 for the first
   */
  public List<DeadEvent> deadEvents(JournalInfo journal, String cursor, long after, int limit) {
    return journals.deadEvents(journal.number(), cursor, after, limit);
  }

  /**
   * Creates a journal; the result is its number. Refused if a journal of its account has one of its
   * topics, or if the account has as many journals as it may have.
   *
   * @param definition its own name is ignored
   */
  public CompletionStage<Integer> create(JournalName name, JournalDefinition definition) {
    JournalDefinition named = named(name, definition);
    return inTurn(
        true,
        () -> {
          checkOverlap(name, named);
          checkQuota(name);
          boolean isNew = find(name).isEmpty();
          return journals
              .create(named)
              .thenApply(
                  result -> {
                    int number = expect(result, RecordResult.JournalCreated.class).journal();
                    if (isNew) {
                      tell(name, JournalChange.CREATED, DefinitionText.of(named));
                    }
                    return number;
                  });
        });
  }

  /**
   * Changes the definition of a journal for events that are published from then on.
   *
   * @param definition its own name is ignored
   */
  public CompletionStage<Void> change(JournalName name, JournalDefinition definition) {
    JournalDefinition named = named(name, definition);
    return inTurn(
        false,
        () -> {
          int number = number(name);
          checkOverlap(name, named);
          JournalCatalog.Item before = journals.catalog().find(number);
          boolean isNew = before == null || !before.definition().equals(named);
          return journals
              .change(number, named)
              .thenApply(
                  result ->
                      isNew
                          ? done(result, name, JournalChange.CHANGED, DefinitionText.of(named))
                          : done(result));
        });
  }

  /** Deletes a journal with all of its events and cursors. */
  public CompletionStage<Void> delete(JournalName name) {
    return inTurn(
        false,
        () ->
            journals
                .delete(number(name))
                .thenApply(result -> done(result, name, JournalChange.DELETED, "")));
  }

  /**
   * Removes the oldest events, in whole chunks; the result is the first position that is left.
   *
   * @param upTo the last position that is not needed any longer
   */
  public CompletionStage<Long> trim(JournalName name, long upTo) {
    return begin(() -> trimOn(number(name), upTo))
        .thenApply(
            first -> {
              tell(name, JournalChange.TRIMMED, "first position: " + first);
              return first;
            });
  }

  private CompletionStage<Long> trimOn(int number, long upTo) {
    return journals
        .trim(number, upTo)
        .thenCompose(
            result -> {
              RecordResult.Trimmed trimmed = expect(result, RecordResult.Trimmed.class);
              return trimmed.complete()
                  ? CompletableFuture.completedFuture(trimmed.firstPosition())
                  : trimOn(number, upTo);
            });
  }

  /**
   * Removes single events, whose positions stay; the result is how many.
   *
   * @param topic the only topic whose events are removed; empty for those of all topics
   * @param from the first position, 1 or more
   * @param to the last position
   */
  public CompletionStage<Long> purge(JournalName name, String topic, long from, long to) {
    return begin(() -> purgeOn(number(name), topic, from, to, 0))
        .thenApply(
            events -> {
              tell(name, JournalChange.PURGED, "removed events: " + events);
              return events;
            });
  }

  private CompletionStage<Long> purgeOn(int number, String topic, long from, long to, long before) {
    return journals
        .purge(number, topic, from, to)
        .thenCompose(
            result -> {
              RecordResult.Purged purged = expect(result, RecordResult.Purged.class);
              long sum = before + purged.events();
              return purged.next() == 0
                  ? CompletableFuture.completedFuture(sum)
                  : purgeOn(number, topic, purged.next(), to, sum);
            });
  }

  /**
   * Gives dead letters of a shared cursor out again, or takes them from it; the result is how many.
   *
   * @param from the first position, 1 or more
   * @param to the last position
   * @param discard whether they are settled instead of given out again
   */
  public CompletionStage<Long> redrive(
      JournalName name, String cursor, long from, long to, boolean discard) {
    return begin(() -> redriveOn(number(name), cursor, from, to, discard, 0))
        .thenApply(
            events -> {
              tell(
                  name,
                  discard ? JournalChange.DISCARDED : JournalChange.REDRIVEN,
                  "dead letters of " + cursor + ": " + events);
              return events;
            });
  }

  private CompletionStage<Long> redriveOn(
      int number, String cursor, long from, long to, boolean discard, long before) {
    return journals
        .redrive(number, cursor, from, to, discard)
        .thenCompose(
            result -> {
              RecordResult.Redriven redriven = expect(result, RecordResult.Redriven.class);
              long sum = before + redriven.events();
              return redriven.next() == 0
                  ? CompletableFuture.completedFuture(sum)
                  : redriveOn(number, cursor, redriven.next(), to, discard, sum);
            });
  }

  private static JournalDefinition named(JournalName name, JournalDefinition definition) {
    return new JournalDefinition(
        name.inShard(),
        definition.filters(),
        definition.keep(),
        definition.retention(),
        definition.full());
  }

  private int number(JournalName name) {
    JournalCatalog.Item found = journals.catalog().find(name.inShard());
    if (found == null) {
      throw new JournalRefusedException("no such journal", true);
    }
    return found.number();
  }

  /** Refuses one journal too many; one that is there already is none more. */
  private void checkQuota(JournalName name) {
    JournalCatalog catalog = journals.catalog();
    if (catalog.find(name.inShard()) == null) {
      quotas.checkOneMore(
          name.account(),
          catalog.all().stream()
              .filter(
                  item -> JournalName.of(item.definition().name()).account().equals(name.account()))
              .count());
    }
  }

  /** Refuses a topic of two journals: nobody could say in which of them its events are. */
  private void checkOverlap(JournalName name, JournalDefinition definition) {
    for (JournalCatalog.Item item : journals.catalog().all()) {
      JournalName other = JournalName.of(item.definition().name());
      if (!other.account().equals(name.account()) || other.equals(name)) {
        continue;
      }
      for (TopicFilter filter : definition.filters()) {
        for (TopicFilter taken : item.definition().filters()) {
          if (filter.intersects(taken)) {
            throw new JournalRefusedException(
                "filter "
                    + filter
                    + " has topics of the filter "
                    + taken
                    + " of the journal "
                    + other.name()
                    + " (expected: each topic in one journal of the account)",
                false);
          }
        }
      }
    }
  }

  private static Void done(RecordResult result) {
    expect(result, RecordResult.Done.class);
    return null;
  }

  private Void done(RecordResult result, JournalName name, JournalChange change, String summary) {
    expect(result, RecordResult.Done.class);
    tell(name, change, summary);
    return null;
  }

  private void tell(JournalName name, JournalChange change, String summary) {
    advisories.accept(new Advisory.JournalChanged(name.account(), name.name(), change, summary));
  }

  private static <T extends RecordResult> T expect(RecordResult result, Class<T> expected) {
    if (result instanceof RecordResult.Refused refused) {
      throw new JournalRefusedException(
          refused.message(),
          refused.reason() == JournalRefusalReason.NO_JOURNAL
              || refused.reason() == JournalRefusalReason.NO_CURSOR);
    }
    return expected.cast(result);
  }

  private synchronized <T> CompletionStage<T> inTurn(
      boolean creates, Supplier<CompletionStage<T>> change) {
    CompletableFuture<T> next =
        lastChange
            .handle((result, failure) -> failure)
            .thenCompose(before -> cluster.prepare(creates))
            .thenCompose(ready -> change.get())
            .whenComplete((result, failure) -> changed.run())
            .thenCompose(result -> cluster.whenKnown().thenApply(known -> result))
            .toCompletableFuture();
    lastChange = next;
    return next;
  }

  private static <T> CompletionStage<T> begin(Supplier<CompletionStage<T>> request) {
    try {
      return request.get();
    } catch (JournalRefusedException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
