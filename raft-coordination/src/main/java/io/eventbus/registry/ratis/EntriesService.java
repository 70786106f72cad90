package io.eventbus.registry.ratis;

import io.eventbus.link.LinkPeer;
import io.eventbus.link.LinkService;
import java.io.IOException;
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
          return append(append);
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
    return append(append);
  }

  private CompletionStage<byte[]> append(AppendEntriesRequestProto append) {
    try {
      return server.appendEntriesAsync(append).thenApply(AppendEntriesReplyProto::toByteArray);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
