package io.eventbus.conformance.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.eventbus.conformance.run.Outcome.Verdict;
import io.eventbus.conformance.scenario.Mutant;
import io.eventbus.conformance.scenario.Scenario;
import io.eventbus.conformance.scenario.ScenarioFailure;
import io.eventbus.conformance.testee.Testee;
import io.netty.channel.EventLoopGroup;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Player of scenarios with one testee, one after the other; for one thread. Replaces a broken
 * testee.
 */
public final class Seat implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(20);
  private static final Duration RESET = Duration.ofSeconds(6);

  private final Testee.Factory factory;
  private final EventLoopGroup loops;
  private final LiveBuses liveBuses;
  private final Duration within;
  private @Nullable Testee testee;
  private volatile @Nullable ConversationStage stage;
  private final BlockingQueue<ObjectNode> greetings = new LinkedBlockingQueue<>();
  private Set<String> capabilities = Set.of();
  private String agent = "";
  private long lastId;

  /**
   * Creates a seat; the testee is started when it is needed.
   *
   * @param within default timeout of a step
   */
  public Seat(Testee.Factory factory, EventLoopGroup loops, LiveBuses liveBuses, Duration within) {
    this.factory = factory;
    this.loops = loops;
    this.liveBuses = liveBuses;
    this.within = within;
  }

  /**
   * Starts the testee if there is none.
   *
   * @throws ScenarioFailure if it does not start
   */
  public Set<String> capabilities() throws ScenarioFailure {
    start();
    return new TreeSet<>(capabilities);
  }

  /**
   * Returns the agent of the testee.
   *
   * @return empty before it was started
   */
  public String agent() {
    return agent;
  }

  private Testee start() throws ScenarioFailure {
    Testee running = testee;
    if (running != null) {
      return running;
    }
    greetings.clear();
    running = factory.start(this::onLine);
    testee = running;
    ObjectNode hello = JsonNodeFactory.instance.objectNode().put("id", ++lastId).put("op", "hello");
    hello.putObject("args").put("protocol", 1);
    running.ask(hello);
    JsonNode answer = greeting(lastId);
    JsonNode ok = answer.path("ok");
    if (ok.path("protocol").asInt() != 1 || !ok.path("capabilities").isArray()) {
      throw new ScenarioFailure(
          "answer to hello: " + answer + " (expected: ok with protocol 1 and capabilities)");
    }
    agent = ok.path("agent").asText();
    Set<String> names = new HashSet<>();
    ok.get("capabilities").forEach(name -> names.add(name.asText()));
    capabilities = names;
    return running;
  }

  /**
   * Returns the answer to a request outside of scenarios; late answers of a scenario may come
   * before it.
   */
  private JsonNode greeting(long id) throws ScenarioFailure {
    long end = System.nanoTime() + START.toNanos();
    try {
      while (true) {
        ObjectNode answer = greetings.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (answer == null) {
          throw new ScenarioFailure("no answer within " + START.toSeconds() + " s");
        }
        if (!answer.has("id") || answer.get("id").asLong() == id) {
          return answer;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ScenarioFailure("interrupted while waiting for the testee");
    }
  }

  private void onLine(ObjectNode line) {
    ConversationStage now = stage;
    if (now != null) {
      now.testee.onLine(line);
    } else if (!line.has("event")) {
      greetings.add(line);
    }
  }

  /**
   * Sends a request that needs no client, between scenarios.
   *
   * @throws ScenarioFailure if there is no answer
   */
  public JsonNode ask(String op, ObjectNode args) throws ScenarioFailure {
    Testee running = start();
    ObjectNode request = JsonNodeFactory.instance.objectNode().put("id", ++lastId).put("op", op);
    running.ask(request.set("args", args));
    return greeting(lastId);
  }

  /**
   * Plays a scenario.
   *
   * @param mutant a fault to plant, or null
   */
  public Outcome play(Scenario scenario, Mutant.@Nullable Active mutant) {
    long start = System.nanoTime();
    Verdict verdict = Verdict.PASSED;
    String message = "";
    List<String> transcript = List.of();
    try {
      Testee running = start();
      List<String> missing = new ArrayList<>(scenario.needs());
      missing.removeAll(capabilities);
      if (missing.isEmpty()) {
        transcript = play(scenario, running, mutant);
      } else {
        verdict = Verdict.LEFT_OUT;
        message = "needs " + String.join(", ", missing);
      }
    } catch (Failed e) {
      verdict = Verdict.FAILED;
      message = String.valueOf(e.getMessage());
      transcript = e.transcript;
    } catch (ScenarioFailure e) {
      verdict = Verdict.FAILED;
      message = String.valueOf(e.getMessage());
      end();
    } catch (RuntimeException e) {
      // Of the kit or of a bus in this process: only the stack tells which.
      verdict = Verdict.FAILED;
      message = e.toString();
      transcript = stack(e);
      end();
    }
    return new Outcome(
        scenario, verdict, message, transcript, Duration.ofNanos(System.nanoTime() - start));
  }

  private List<String> play(Scenario scenario, Testee running, Mutant.@Nullable Active mutant)
      throws Failed {
    ConversationStage now = new ConversationStage(scenario, running, within, mutant);
    now.testee.startBehind(lastId);
    stage = now;
    ScenarioFailure failure = null;
    ConversationScript script = new ConversationScript(now, liveBuses);
    try (now;
        script) {
      if (scenario.live() == 0) {
        now.open(loops, List.of("A", "B", "C"));
      } else {
        script.goLive(scenario.live());
      }
      failure = attempt(() -> script.play(scenario.script()));
      ScenarioFailure left = attempt(() -> reset(now));
      if (failure == null) {
        failure = left != null ? left : attempt(() -> now.checkNever(scenario.never()));
      }
    } finally {
      lastId = now.testee.lastId();
      stage = null;
    }
    if (failure != null) {
      throw new Failed(failure, now);
    }
    return List.of();
  }

  private void reset(ConversationStage now) throws ScenarioFailure {
    try {
      now.testee.call("reset", null, RESET);
      now.checkAllEnded();
    } catch (ScenarioFailure e) {
      // Its rest would disturb the next scenario.
      end();
      throw e;
    }
  }

  private interface Part {
    void run() throws ScenarioFailure;
  }

  private @Nullable ScenarioFailure attempt(Part part) {
    try {
      part.run();
      return null;
    } catch (ScenarioFailure e) {
      return e;
    } catch (RuntimeException e) {
      return new ScenarioFailure("the script is broken: " + e);
    }
  }

  private static List<String> stack(RuntimeException e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text));
    return text.toString().lines().toList();
  }

  private void end() {
    Testee running = testee;
    testee = null;
    if (running != null) {
      running.close();
    }
  }

  @Override
  public void close() {
    end();
  }

  /** A failure with the traffic before it. */
  private final class Failed extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient List<String> transcript;

    Failed(ScenarioFailure failure, ConversationStage now) {
      super(failure.getMessage());
      List<String> lines = new ArrayList<>(now.lines());
      Testee running = testee;
      if (running != null && !running.lastWords().isEmpty()) {
        lines.add("its standard error ends with:");
        lines.addAll(running.lastWords().lines().toList());
      }
      transcript = lines;
    }
  }
}
