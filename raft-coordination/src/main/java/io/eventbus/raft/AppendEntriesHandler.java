package io.eventbus.raft;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkService;
import io.eventbus.raft.repair.DurableAckGuard;
import io.eventbus.raft.repair.LeaderContact;
import io.eventbus.raft.repair.ListenerPromotionGuard;
import io.eventbus.raft.repair.RoutineAppend;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.server.RaftServer;

/**
 * Service that hands a leader's entries to the Ratis of a follower.
 *
 * <p>Entries from a known leader are only put into a queue: that is done on the thread that has
 * read them. Everything else that a message may bring, such as a new term, which is written to the
 * disk at once, or other members, is left to threads that may wait.
 */
final class AppendEntriesHandler implements LinkService {
  /**
   * Size in bytes from which on a leader waits hardly longer than for any message, see {@link
   * RaftTransport}.
   */
  private static final int LARGE_BYTES = 32 << 10;

  private final RaftServer server;
  private final Executor workers;
  private final Timer timer;
  private final Duration timeout;
  private final Groups groups;

  /** Timer for tasks that must not block. */
  interface Timer {
    void after(Duration delay, Runnable task);
  }

  /** Groups that are served here. */
  interface Groups {
    /** Returns the group of a message; fails if it is for no member here. */
    Served of(RaftRpcRequestProto head) throws IOException;
  }

  /**
   * Repairs of a group that is served here.
   *
   * @param behind told where the leader's log begins, if the log here has not got so far
   */
  record Served(DurableAckGuard guard, LeaderContact contact, LongConsumer behind) {}

  /**
   * Creates the service.
   *
   * @param workers may wait
   * @param timeout how long a large message may wait for the disk, well below the shortest election
   *     time-out
   */
  AppendEntriesHandler(
      RaftServer server, Groups groups, Executor workers, Timer timer, Duration timeout) {
    this.server = server;
    this.groups = groups;
    this.workers = workers;
    this.timer = timer;
    this.timeout = timeout;
  }

  @Override
  public CompletionStage<byte[]> answer(LinkPeer peer, byte[] request) {
    AppendEntriesRequestProto append;
    Target target;
    try {
      append = AppendEntriesRequestProto.parseFrom(request);
      RaftRpcRequestProto head = append.getServerRequest();
      target = new Target(server.getDivision(RaftTransport.group(head)), groups.of(head));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    CompletionStage<byte[]> routine =
        RoutineAppend.tryAppend(target.division(), append, () -> append(target, append));
    return routine != null
        ? routine
        : CompletableFuture.supplyAsync(() -> appendSlowly(target, append), workers)
            .thenCompose(stage -> stage);
  }

  private record Target(RaftServer.Division division, Served served) {}

  private CompletionStage<byte[]> appendSlowly(Target target, AppendEntriesRequestProto append) {
    try {
      ListenerPromotionGuard.endBefore(target.division(), append);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    return append(target, append);
  }

  private CompletionStage<byte[]> append(Target target, AppendEntriesRequestProto append) {
    LeaderContact contact = target.served().contact();
    long now = contact.now();
    try {
      CompletableFuture<AppendEntriesReplyProto> answer =
          append.getEntriesCount() == 0
              ? server.appendEntriesAsync(append)
              : appendEntries(target, append);
      // Before the answer, which may wait for the disk.
      if (RoutineAppend.isFollowing(target.division().getInfo(), append.getLeaderTerm())) {
        contact.heard(now);
      }
      return answer.thenApply(
          reply -> {
            if (reply.getResult() != AppendResult.NOT_LEADER) {
              contact.heard(now);
            }
            return reply.toByteArray();
          });
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<AppendEntriesReplyProto> appendEntries(
      Target target, AppendEntriesRequestProto append) throws IOException {
    CompletableFuture<AppendEntriesReplyProto> kept =
        target
            .served()
            .guard()
            .append(target.division(), append, () -> server.appendEntriesAsync(append));
    if (append.getSerializedSize() > LARGE_BYTES && !kept.isDone()) {
      // The leader gives large messages more time, for slow lines; it is to hear early of slow
      // disks, so that heartbeats go on.
      timer.after(
          timeout,
          () -> kept.completeExceptionally(new IOException("not on the disk within " + timeout)));
    }
    return kept;
  }
}
