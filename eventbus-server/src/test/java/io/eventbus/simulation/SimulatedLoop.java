package io.eventbus.simulation;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.concurrent.Ticker;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Event loop in virtual time: its tasks take no time, and never run two at once. */
final class SimulatedLoop extends AbstractScheduledEventExecutor implements EventLoop {
  private final Simulator simulator;
  private final Ticker ticker;
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private boolean running;
  private boolean woken;
  private long armed = Long.MAX_VALUE;

  SimulatedLoop(Simulator simulator) {
    this.simulator = simulator;
    this.ticker =
        new Ticker() {
          @Override
          public long initialNanoTime() {
            return 0;
          }

          @Override
          public long nanoTime() {
            return simulator.now();
          }

          @Override
          public void sleep(long delay, TimeUnit unit) {
            throw new UnsupportedOperationException("virtual time does not wait");
          }
        };
  }

  private void turn() {
    perform(null);
  }

  /** Runs a task on this loop now, and its consequences. */
  void perform(@Nullable Runnable first) {
    running = true;
    woken = false;
    if (simulator.now() >= armed) {
      armed = Long.MAX_VALUE;
    }
    if (first != null) {
      first.run();
    }
    while (true) {
      for (Runnable due = pollScheduledTask(simulator.now());
          due != null;
          due = pollScheduledTask(simulator.now())) {
        tasks.add(due);
      }
      Runnable next = tasks.poll();
      if (next == null) {
        break;
      }
      next.run();
    }
    running = false;
    arm();
  }

  private void arm() {
    long next = nextScheduledTaskDeadlineNanos();
    if (!running && next >= 0 && next < armed) {
      armed = next;
      simulator.at(next, this::turn);
    }
  }

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    if (!running && !woken) {
      woken = true;
      simulator.at(simulator.now(), this::turn);
    }
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    ScheduledFuture<?> future = super.schedule(command, delay, unit);
    arm();
    return future;
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
    ScheduledFuture<V> future = super.schedule(callable, delay, unit);
    arm();
    return future;
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable command, long initialDelay, long period, TimeUnit unit) {
    ScheduledFuture<?> future = super.scheduleAtFixedRate(command, initialDelay, period, unit);
    arm();
    return future;
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable command, long initialDelay, long delay, TimeUnit unit) {
    ScheduledFuture<?> future = super.scheduleWithFixedDelay(command, initialDelay, delay, unit);
    arm();
    return future;
  }

  @Override
  public Ticker ticker() {
    return ticker;
  }

  @Override
  public boolean inEventLoop(Thread thread) {
    return true;
  }

  @Override
  public EventLoop next() {
    return this;
  }

  @Override
  public @Nullable EventLoopGroup parent() {
    return null;
  }

  @Override
  public ChannelFuture register(Channel channel) {
    return register(new DefaultChannelPromise(channel, this));
  }

  @Override
  public ChannelFuture register(ChannelPromise promise) {
    promise.channel().unsafe().register(this, promise);
    return promise;
  }

  @Override
  @Deprecated
  public ChannelFuture register(Channel channel, ChannelPromise promise) {
    channel.unsafe().register(this, promise);
    return promise;
  }

  @Override
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    throw new UnsupportedOperationException("a simulated loop has no thread");
  }

  @Override
  public Future<?> terminationFuture() {
    throw new UnsupportedOperationException("a simulated loop has no thread");
  }

  @Override
  @Deprecated
  public void shutdown() {
    throw new UnsupportedOperationException("a simulated loop has no thread");
  }

  @Override
  public boolean isShuttingDown() {
    return false;
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return false;
  }
}
