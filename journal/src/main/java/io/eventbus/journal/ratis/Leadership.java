package io.eventbus.journal.ratis;

import io.eventbus.journal.codec.Entry;
import io.eventbus.journal.state.ShardChanges;
import io.eventbus.raft.RatisGroup;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Duties of a replica while it leads; they begin anew with each leadership. For one thread, but
 * {@link #applied}.
 */
final class Leadership {
  private final RatisGroup group;
  private final Supplier<ShardDuties> begin;
  private volatile @Nullable ShardDuties duties;
  private long term;

  /**
   * Creates the duties of a replica that does not lead yet.
   *
   * @param begin creates those of a leadership
   */
  Leadership(RatisGroup group, Supplier<ShardDuties> begin) {
    this.group = group;
    this.begin = begin;
  }

  /** Does what is due, if this bus leads. */
  void perform() throws InterruptedException, ExecutionException {
    ShardDuties current = look();
    if (current != null) {
      current.perform();
    }
  }

  /** Returns the duties of this leadership; null if this bus does not lead. */
  @Nullable ShardDuties look() {
    if (!group.isLeaderReady()) {
      duties = null;
      return null;
    }
    ShardDuties current = duties;
    long now = group.term();
    if (current == null || term != now) {
      current = begin.get();
      term = now;
      duties = current;
      current.begin();
    }
    return current;
  }

  /** Takes note of an entry. Any thread. */
  void applied(Entry entry, ShardChanges changes) {
    ShardDuties current = duties;
    if (current != null) {
      current.applied(entry, changes);
    }
  }
}
