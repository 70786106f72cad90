package io.eventbus.registry.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.registry.CommandId;
import io.eventbus.registry.CommandResult;
import io.eventbus.registry.RegistryChange;
import io.eventbus.registry.RegistryException;
import io.eventbus.registry.RegistryListener;
import io.eventbus.registry.RegistryOverloadedException;
import io.eventbus.registry.RegistrySnapshot;
import io.eventbus.registry.TopicCommand;
import io.eventbus.registry.TopicConfig;
import io.eventbus.registry.TopicSpec;
import io.eventbus.registry.state.RegistryLimits;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LocalRegistryConcurrencyTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int THREADS = 4;

  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  /**
   * Sends every command by two threads at once, through a queue so short that many are refused and
   * repeated; listeners come in the middle.
   */
  @Test
  void commandsAreAppliedOnceAndListenersMissNothing() throws Exception {
    int commands = 1_000;
    LocalRegistryOptions options =
        new LocalRegistryOptions(RegistryLimits.DEFAULT, 1, 3, 1 << 20, 100);
    try (LocalRegistry registry = new LocalRegistry(options, Clock.systemUTC())) {
      registry.start();
      List<CommandId> ids = new ArrayList<>();
      for (int i = 0; i < commands; i++) {
        ids.add(registry.newCommandId());
      }
      List<Follower> followers = new ArrayList<>();
      List<Future<List<CommandResult>>> submitters = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int half = t % 2;
        submitters.add(threads.submit(() -> submitHalf(registry, ids, half)));
      }
      for (int i = 0; i < 50; i++) {
        Follower follower = new Follower();
        followers.add(follower);
        registry.addListener(follower);
        assertThat(follower.greeted.await(60, TimeUnit.SECONDS)).isTrue();
      }
      List<List<CommandResult>> results = new ArrayList<>();
      for (Future<List<CommandResult>> submitter : submitters) {
        results.add(submitter.get(60, TimeUnit.SECONDS));
      }
      assertThat(results.get(0)).isEqualTo(results.get(2));
      assertThat(results.get(1)).isEqualTo(results.get(3));

      RegistrySnapshot end = registry.snapshot();
      assertThat(end.version()).isEqualTo(commands);
      List<Long> versions = new ArrayList<>();
      results.subList(0, 2).forEach(half -> half.forEach(r -> versions.add(r.version())));
      assertThat(versions).doesNotHaveDuplicates().hasSize(commands);
      registry.shutdown(LONG).toCompletableFuture().get(60, TimeUnit.SECONDS);
      for (Follower follower : followers) {
        assertThat(follower.error).isEmpty();
        assertThat(follower.topics.values()).containsExactlyElementsOf(end.topics());
        assertThat(follower.version).isEqualTo(commands);
      }
    }
  }

  /** Checks that every stage completes and tells the truth, whatever the moment of the end. */
  @Test
  void commandsThatMeetTheEndAreAnsweredTruly() throws Exception {
    Random random = new Random(7);
    for (int round = 0; round < 200; round++) {
      LocalRegistry registry = new LocalRegistry(LocalRegistryOptions.DEFAULT, Clock.systemUTC());
      registry.start();
      CountDownLatch halfway = new CountDownLatch(1 + random.nextInt(60));
      List<Future<Map<String, CompletionStage<CommandResult>>>> submitters = new ArrayList<>();
      for (int t = 0; t < 2; t++) {
        String prefix = "t" + t + "-";
        submitters.add(threads.submit(submitMany(registry, prefix, halfway)));
      }
      assertThat(halfway.await(60, TimeUnit.SECONDS)).isTrue();
      Duration deadline = random.nextBoolean() ? LONG : Duration.ofNanos(1);
      registry.shutdown(deadline).toCompletableFuture().get(60, TimeUnit.SECONDS);
      for (Future<Map<String, CompletionStage<CommandResult>>> submitter : submitters) {
        for (var sent : submitter.get(60, TimeUnit.SECONDS).entrySet()) {
          checkAnswer(sent.getValue(), () -> registry.snapshot().topic(sent.getKey()) != null);
        }
      }
    }
  }

  private static void checkAnswer(CompletionStage<CommandResult> stage, Callable<Boolean> applied)
      throws Exception {
    RegistryException error = null;
    try {
      stage.toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      assertThat(e.getCause()).isInstanceOf(RegistryException.class);
      error = (RegistryException) e.getCause();
    }
    if (error == null) {
      assertThat(applied.call()).isTrue();
    } else if (!error.maybeApplied()) {
      assertThat(applied.call()).isFalse();
    }
  }

  private static Callable<Map<String, CompletionStage<CommandResult>>> submitMany(
      LocalRegistry registry, String prefix, CountDownLatch halfway) {
    return () -> {
      Map<String, CompletionStage<CommandResult>> sent = new TreeMap<>();
      for (int i = 0; i < 60; i++) {
        String topic = prefix + i;
        sent.put(topic, registry.submit(create(topic), LONG));
        halfway.countDown();
      }
      return sent;
    };
  }

  private static List<CommandResult> submitHalf(
      LocalRegistry registry, List<CommandId> ids, int half) throws Exception {
    List<CommandResult> results = new ArrayList<>();
    long seen = 0;
    for (int i = half; i < ids.size(); i += 2) {
      CommandResult result =
          submitUntilTaken(registry, ids.get(i), create("t" + i % 100 + "-" + i));
      results.add(result);
      long version = registry.snapshot().version();
      assertThat(version).isGreaterThanOrEqualTo(Math.max(seen, result.version()));
      seen = version;
    }
    return results;
  }

  private static CommandResult submitUntilTaken(
      LocalRegistry registry, CommandId id, TopicCommand command) throws Exception {
    while (true) {
      try {
        return registry
            .submit(id, command, LONG)
            .toCompletableFuture()
            .orTimeout(60, TimeUnit.SECONDS)
            .join();
      } catch (CompletionException e) {
        if (!(e.getCause() instanceof RegistryOverloadedException)) {
          throw e;
        }
        Thread.onSpinWait();
      }
    }
  }

  private static TopicCommand.Create create(String topic) {
    return new TopicCommand.Create(new TopicSpec(topic, Map.of()));
  }

  /** Copy of the topics from the first snapshot and the changes; used on the registry's thread. */
  private static final class Follower implements RegistryListener {
    final CountDownLatch greeted = new CountDownLatch(1);
    final TreeMap<String, TopicConfig> topics = new TreeMap<>();
    volatile long version = -1;
    volatile String error = "";

    @Override
    public void onSnapshot(RegistrySnapshot snapshot, List<RegistryChange> changes) {
      if (version < 0) {
        snapshot.topics().forEach(topic -> topics.put(topic.name(), topic));
        error = changes.isEmpty() ? "" : "changes in the first call";
      } else if (snapshot.version() != version + 1) {
        error = "version " + snapshot.version() + " after " + version;
      }
      for (RegistryChange change : changes) {
        TopicConfig topic = ((RegistryChange.TopicCreated) change).topic();
        topics.put(topic.name(), topic);
      }
      version = snapshot.version();
      greeted.countDown();
    }
  }
}
