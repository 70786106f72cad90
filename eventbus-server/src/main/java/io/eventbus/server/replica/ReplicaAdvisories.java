package io.eventbus.server.replica;

import io.eventbus.journal.ratis.ReplicaListener;
import io.eventbus.journal.ratis.ShardMember;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.advisory.Advisory.ReplicaChange;
import io.eventbus.server.durable.JournalName;
import java.util.function.Consumer;

/** Reporter of what happens to the replica of this bus. Any thread. */
public final class ReplicaAdvisories implements ReplicaListener {
  private final String bus;
  private final int shard;
  private final Consumer<Advisory> advisories;

  /**
   * Creates a reporter.
   *
   * @param bus this bus
   */
  public ReplicaAdvisories(String bus, int shard, Consumer<Advisory> advisories) {
    this.bus = bus;
    this.shard = shard;
    this.advisories = advisories;
  }

  private void tell(ReplicaChange change, String reason) {
    advisories.accept(new Advisory.ReplicaChanged(shard, bus, change, reason));
  }

  @Override
  public void failed(String reason) {
    tell(ReplicaChange.FAILED, reason);
  }

  @Override
  public void opened() {
    tell(ReplicaChange.OPENED, "");
  }

  @Override
  public void copying(String source) {
    tell(ReplicaChange.COPYING, "from " + ShardMember.bus(source));
  }

  @Override
  public void copyFailed(String reason) {
    tell(ReplicaChange.COPY_FAILED, reason);
  }

  @Override
  public void copied(String source, long bytes) {
    tell(ReplicaChange.COPIED, bytes + " bytes from " + ShardMember.bus(source));
  }

  @Override
  public void damaged(String journal, String reason) {
    JournalName name = JournalName.of(journal);
    advisories.accept(new Advisory.JournalDamaged(name.account(), name.name(), reason));
  }
}
