package io.eventbus.registry.ratis;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkService;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
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
  private final RaftServer server;
  private final Executor workers;

  EntriesService(RaftServer server, Executor workers) {
    this.server = server;
    this.workers = workers;
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
      return server
          .appendEntriesAsync(append)
          .thenCompose(reply -> isTrue(division, append, reply))
          .thenApply(AppendEntriesReplyProto::toByteArray);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Fails a yes to entries that came too early. The engine takes entries that are sent a second
   * time for kept as soon as they are in its memory, while the first ones still wait for the disk
   * or could not be written; and it looks at the term before it appends, not after, so that a vote
   * for another leader may fall in between.
   */
  private static CompletionStage<AppendEntriesReplyProto> isTrue(
      RaftServer.Division division,
      AppendEntriesRequestProto append,
      AppendEntriesReplyProto reply) {
    int entries = append.getEntriesCount();
    if (entries == 0 || reply.getResult() != AppendResult.SUCCESS) {
      return CompletableFuture.completedFuture(reply);
    }
    long last = append.getEntries(entries - 1).getIndex();
    long onDisk = division.getRaftLog().getFlushIndex();
    if (onDisk < last) {
      return CompletableFuture.failedFuture(
          new IOException("entries: up to " + last + ", on the disk: up to " + onDisk));
    }
    long term = division.getInfo().getCurrentTerm();
    if (term != append.getLeaderTerm()) {
      return CompletableFuture.failedFuture(
          new IOException("term: " + append.getLeaderTerm() + " (now: " + term + ")"));
    }
    return CompletableFuture.completedFuture(reply);
  }
}
