package io.eventbus.link;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The event loop, of one thread, that drives the links of some channels in both directions, see
 * {@link LinkNode#useDedicatedLoop}. Any thread may call any method.
 *
 * <p>A message that comes in on one of these channels and causes others to go out, such as a
 * command that becomes an entry for two followers, never changes threads. Nothing else runs on the
 * loop: a task that blocks it delays those channels only.
 */
// A task that is not run shows as a missing result; the future of the task itself is not needed.
@SuppressWarnings("FutureReturnValueIgnored")
public final class DedicatedLoop implements Executor {
  private final Set<String> kinds;
  private final EventLoopGroup group;
  private final EventLoop loop;

  DedicatedLoop(Set<String> kinds, String bus, LinkTransport transport) {
    this.kinds = Set.copyOf(kinds);
    this.group =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("quick-link-" + bus, true), transport.io());
    this.loop = group.next();
  }

  Set<String> kinds() {
    return kinds;
  }

  boolean accepts(String channel) {
    return kinds.contains(kind(channel));
  }

  /** Returns the part of a channel's name before its first '.'. */
  static String kind(String channel) {
    int dot = channel.indexOf('.');
    return dot < 0 ? channel : channel.substring(0, dot);
  }

  EventLoop loop() {
    return loop;
  }

  /**
   * Runs a task: at once if the caller is on this thread.
   *
   * @param task must not block
   * @throws java.util.concurrent.RejectedExecutionException if the node is closed
   */
  @Override
  public void execute(Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }

  /**
   * Runs a task later, unless the node is closed before.
   *
   * @param delay the delay
   * @param task must not block
   * @throws java.util.concurrent.RejectedExecutionException if the node is closed
   */
  public void after(Duration delay, Runnable task) {
    loop.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  void beginEnd() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  void awaitEnd() {
    group.terminationFuture().awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
