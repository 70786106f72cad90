package io.eventbus.loadtest.coordination;

import java.nio.file.Path;

/** A system whose servers tell when they saw a change, and that more may join. */
public interface VisibleSystem extends CoordinationSystem {
  @Override
  VisibleCluster start(int servers, Path directory) throws InterruptedException;
}
