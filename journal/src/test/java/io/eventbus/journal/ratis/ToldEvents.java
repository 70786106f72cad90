package io.eventbus.journal.ratis;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Listener that remembers what it is told. */
final class ToldEvents implements ReplicaListener {
  private final List<String> told = new CopyOnWriteArrayList<>();

  List<String> told() {
    return told;
  }

  @Override
  public void failed(String reason) {
    told.add("failed " + reason);
  }

  @Override
  public void opened() {
    told.add("opened");
  }

  @Override
  public void copying(String source) {
    told.add("copying " + source);
  }

  @Override
  public void copyFailed(String reason) {
    told.add("copyFailed " + reason);
  }

  @Override
  public void copied(String source, long bytes) {
    told.add("copied " + source + (bytes > 0 ? "" : " nothing"));
  }

  @Override
  public void damaged(String journal, String reason) {
    told.add("damaged " + journal + " " + reason);
  }
}
