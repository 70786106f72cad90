package io.eventbus.journal.state;

import io.eventbus.journal.rows.MemoryRows;
import java.nio.ByteBuffer;
import java.util.List;

/** Random entries of the model's test, for tests of other packages. */
public final class ShardModels {
  /** Maximum sizes that the entries reach. */
  public static final ShardLimits LIMITS = ShardModelTest.LIMITS;

  private ShardModels() {}

  /** Returns the entries of a seed. */
  public static List<ByteBuffer> entries(long seed) {
    return ShardModelTest.entries(seed);
  }

  /** Returns all rows as text, to be compared. */
  public static List<String> text(MemoryRows rows) {
    return ShardFixture.text(rows);
  }
}
