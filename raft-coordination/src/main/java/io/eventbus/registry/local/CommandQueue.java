package io.eventbus.registry.local;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Queue of commands to the registry's thread, bounded in count and in bytes.
 *
 * <p>Any thread offers; one thread takes. The lock is held for a few instructions only.
 */
final class CommandQueue {
  /** Result of an offer. */
  enum Offer {
    TAKEN,
    FULL,
    CLOSED
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<PendingCommand> commands = new ArrayDeque<>();
  private final int maxCommands;
  private final long maxBytes;

  /**
   * Command that the taking thread is at; it is removed with the others when all are to be failed.
   */
  private @Nullable PendingCommand inHand;

  private long bytes;
  private boolean woken;
  private boolean closed;

  CommandQueue(int maxCommands, long maxBytes) {
    this.maxCommands = maxCommands;
    this.maxBytes = maxBytes;
  }

  Offer offer(PendingCommand command) {
    lock.lock();
    try {
      if (closed) {
        return Offer.CLOSED;
      }
      if (commands.size() >= maxCommands || command.bytes > maxBytes - bytes) {
        return Offer.FULL;
      }
      commands.add(command);
      bytes += command.bytes;
      changed.signal();
      return Offer.TAKEN;
    } finally {
      lock.unlock();
    }
  }

  /** Wakes the taking thread, also with no command there. */
  void wake() {
    lock.lock();
    try {
      woken = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Accepts no more commands; those that are in stay to be taken. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes and returns everything, with the command that was taken last, which may be done
   * already.
   */
  List<PendingCommand> drain() {
    lock.lock();
    try {
      List<PendingCommand> all = new ArrayList<>();
      if (inHand != null) {
        all.add(inHand);
      }
      all.addAll(commands);
      commands.clear();
      bytes = 0;
      return all;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the next command; returns null when woken, and at the end, see {@link #isDone}. */
  @Nullable PendingCommand take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      inHand = null;
      while (commands.isEmpty() && !woken && !closed) {
        changed.await();
      }
      woken = false;
      PendingCommand command = commands.poll();
      if (command != null) {
        bytes -= command.bytes;
        inHand = command;
      }
      return command;
    } finally {
      lock.unlock();
    }
  }

  boolean isDone() {
    lock.lock();
    try {
      return closed && commands.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  int size() {
    lock.lock();
    try {
      return commands.size();
    } finally {
      lock.unlock();
    }
  }

  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }
}
