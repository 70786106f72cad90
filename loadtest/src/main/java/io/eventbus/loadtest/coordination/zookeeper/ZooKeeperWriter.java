package io.eventbus.loadtest.coordination.zookeeper;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;

/**
 * ZooKeeper's client: one session, over a connection to whichever of the given servers it picks. A
 * register is a node; writes are unconditional. A session that has ended is followed by another.
 */
final class ZooKeeperWriter implements CoordinationClient {
  private static final int SESSION_MILLIS = 20_000;

  /** Less than the time that a phase waits for its last answers. */
  private static final int CONNECT_MILLIS = 5_000;

  private static final int CLOSE_MILLIS = 200;

  private final String servers;
  private volatile ZooKeeper client;
  private boolean closed;

  ZooKeeperWriter(String servers) {
    this.servers = servers;
    this.client = open(servers);
  }

  private static ZooKeeper open(String servers) {
    CountDownLatch connected = new CountDownLatch(1);
    ZKClientConfig configuration = new ZKClientConfig();
    configuration.setProperty(
        ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, Long.toString(DEADLINE.toMillis()));
    try {
      ZooKeeper opened =
          new ZooKeeper(
              servers,
              SESSION_MILLIS,
              (WatchedEvent event) -> {
                if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                  connected.countDown();
                }
              },
              configuration);
      boolean open = false;
      try {
        open = connected.await(CONNECT_MILLIS, TimeUnit.MILLISECONDS);
      } finally {
        if (!open) {
          opened.close(CLOSE_MILLIS);
        }
      }
      if (!open) {
        throw new CoordinationException("connect", "no session within " + CONNECT_MILLIS + " ms");
      }
      return opened;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    }
  }

  /** The client, with another session if the one before has expired. */
  private ZooKeeper current() {
    ZooKeeper now = client;
    return now.getState().isAlive() ? now : reopen();
  }

  private synchronized ZooKeeper reopen() {
    if (closed) {
      throw new CoordinationException("closed", "the client is closed");
    }
    if (!client.getState().isAlive()) {
      end(client);
      client = open(servers);
    }
    return client;
  }

  private static void end(ZooKeeper zooKeeper) {
    try {
      zooKeeper.close(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private interface Request<T> {
    T send(ZooKeeper zooKeeper) throws KeeperException, InterruptedException;
  }

  private <T> T call(Request<T> request) {
    try {
      return request.send(current());
    } catch (KeeperException e) {
      throw new CoordinationException(e.code().name(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    }
  }

  @Override
  public void create(String register, String value) {
    call(
        zk -> {
          try {
            return zk.create(
                path(register), bytes(value), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
          } catch (KeeperException.NodeExistsException e) {
            // An attempt before was carried out after all.
            return path(register);
          }
        });
  }

  @Override
  public void write(Put put) {
    call(zk -> zk.setData(path(put.register()), bytes(put.value()), -1));
  }

  @Override
  public Register read(String register) {
    Stat stat = new Stat();
    return call(
        zk -> {
          try {
            byte[] value = zk.getData(path(register), false, stat);
            return new Register(
                register,
                new String(value, StandardCharsets.US_ASCII),
                stat.getVersion(),
                stat.getVersion());
          } catch (KeeperException.NoNodeException e) {
            return Register.absent(register);
          }
        });
  }

  @Override
  public Register readNewest(String register) {
    CompletableFuture<Integer> synced = new CompletableFuture<>();
    current().sync(path(register), (code, path, context) -> synced.complete(code), null);
    try {
      KeeperException.Code told =
          KeeperException.Code.get(synced.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS));
      if (told != KeeperException.Code.OK && told != KeeperException.Code.NONODE) {
        throw new CoordinationException(told.name(), "sync of " + register);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new CoordinationException("timeout", e);
    }
    return read(register);
  }

  @Override
  public boolean replace(Register read, String value) {
    return call(
        zk -> {
          try {
            zk.setData(path(read.name()), bytes(value), (int) read.version());
            return true;
          } catch (KeeperException.BadVersionException e) {
            return false;
          }
        });
  }

  private static String path(String register) {
    return "/" + register;
  }

  private static byte[] bytes(String value) {
    return value.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    end(client);
  }
}
