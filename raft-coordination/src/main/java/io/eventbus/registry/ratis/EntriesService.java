package io.eventbus.registry.ratis;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkService;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;

/**
 * Hands a leader's entries to the engine of a follower.
 *
 * <p>From a leader that is known, entries are only put into a queue of the engine's: that is done
 * on the thread that has read them. Whatever else a message may bring, such as a new term, which
 * the engine writes to its disk at once, or other members, is left to threads that may wait.
 */
final class EntriesService implements LinkService {
  /** For these a leader waits hardly longer than for any message, see {@link RaftTransport}. */
  private static final int LARGE = 32 << 10;

  private final RaftServer server;
  private final Executor workers;
  private final Timer timer;
  private final Duration patience;
  private final EntriesOnDisk onDisk;

  /** Runs what must not block, a little later. */
  interface Timer {
    void after(Duration delay, Runnable task);
  }

  /**
   * Gives an engine what its leader sends.
   *
   * @param onDisk of this engine
   * @param workers may wait
   * @param timer for large messages
   * @param patience how long a large message may wait for the disk, well below the shortest
   *     election time-out
   */
  EntriesService(
      RaftServer server, EntriesOnDisk onDisk, Executor workers, Timer timer, Duration patience) {
    this.server = server;
    this.onDisk = onDisk;
    this.workers = workers;
    this.timer = timer;
    this.patience = patience;
  }

  @Override
  public CompletionStage<byte[]> answer(LinkPeer peer, byte[] request) {
    AppendEntriesRequestProto append;
    RaftServer.Division division;
    try {
      append = AppendEntriesRequestProto.parseFrom(request);
      division = RaftTransport.division(server, append.getServerRequest());
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    if (!append.getInitializing() && !changesMembers(append)) {
      // The engine's own lock: what it finds out about its role stays true until the entries are
      // in.
      synchronized (division) {
        if (isRoutine(division.getInfo(), append)) {
          return append(division, append);
        }
      }
    }
    return CompletableFuture.supplyAsync(() -> appendSlowly(division, append), workers)
        .thenCompose(stage -> stage);
  }

  private static boolean changesMembers(AppendEntriesRequestProto append) {
    return append.getEntriesList().stream().anyMatch(LogEntryProto::hasConfigurationEntry);
  }

  private static boolean isRoutine(DivisionInfo info, AppendEntriesRequestProto append) {
    return (info.isFollower() || info.isListener())
        && info.getCurrentTerm() == append.getLeaderTerm();
  }

  private CompletionStage<byte[]> appendSlowly(
      RaftServer.Division division, AppendEntriesRequestProto append) {
    try {
      ListenerWatch.endBefore(division, append);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    return append(division, append);
  }

  private CompletionStage<byte[]> append(
      RaftServer.Division division, AppendEntriesRequestProto append) {
    try {
      return (append.getEntriesCount() == 0
              ? server.appendEntriesAsync(append)
              : appendEntries(division, append))
          .thenApply(AppendEntriesReplyProto::toByteArray);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<AppendEntriesReplyProto> appendEntries(
      RaftServer.Division division, AppendEntriesRequestProto append) throws IOException {
    CompletableFuture<AppendEntriesReplyProto> kept =
        onDisk.append(division, append, () -> server.appendEntriesAsync(append));
    if (append.getSerializedSize() > LARGE && !kept.isDone()) {
      // The leader gives large messages more time, for slow lines; it is to hear early of slow
      // disks, so that heartbeats go on.
      timer.after(
          patience,
          () -> kept.completeExceptionally(new IOException("not on the disk within " + patience)));
    }
    return kept;
  }
}
