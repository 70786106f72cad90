package io.eventbus.cli.permissions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.config.ClientQuotas;
import io.eventbus.server.config.Quota;
import io.eventbus.server.config.Quotas;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Effect;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Rule;
import io.eventbus.server.security.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tries out a roles file, or the configuration of a bus, without a bus. */
@Command(
    name = "permissions",
    description =
        "Says what a roles file or a configuration allows to a client, and by which line.",
    subcommands = {PermissionsCommand.Test.class, PermissionsCommand.Rules.class})
public final class PermissionsCommand implements Runnable {
  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "test or list is missing");
  }

  private static void json(CliContext context, Object value) {
    try {
      context.out().line(new ObjectMapper().writeValueAsString(value));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** Test whether a client may do something. */
  @Command(
      name = "test",
      description =
          "Says whether a client may do something, and which rule decides; ends with 1 where it may"
              + " not.")
  static final class Test implements Callable<Integer> {
    @Mixin PermissionOptions client = new PermissionOptions();

    @Parameters(
        index = "0",
        paramLabel = "ACTION",
        description = "publish, subscribe, block, observe, request, serve, broadcast or journal.")
    Action action = Action.PUBLISH;

    @Parameters(
        index = "1",
        paramLabel = "TOPIC|FILTER|SERVICE",
        description =
            "The topic to publish to, the filter of the subscription, or the name of the service.")
    String name = "";

    @Spec CommandSpec spec = CommandSpec.create();

    private final CliContext context;

    Test(CliContext context) {
      this.context = context;
    }

    @Override
    public Integer call() {
      String problem = problem();
      if (problem != null) {
        throw new ParameterException(spec.commandLine(), problem);
      }
      FilterRules rules = client.client(spec, context).permissions().of(action);
      Verdict verdict =
          action.isAboutNames() ? rules.explain(name) : rules.explain(TopicFilter.parse(name));
      if (client.output == PermissionOptions.Output.JSON) {
        json(context, fields(verdict, rules));
      } else {
        String by = verdict.by() == null ? ": " : " by ";
        context
            .out()
            .line((verdict.allowed() ? "allowed" : "refused") + by + shown(verdict.reason()));
        if (!verdict.allowed()) {
          context.out().line("The client has " + shown(rules.origin()) + ".");
        }
      }
      return verdict.allowed() ? ExitCode.OK : ExitCode.FAILED;
    }

    private @Nullable String problem() {
      if (action == Action.PUBLISH) {
        return Topic.problem(name);
      }
      if (action.isAboutServices()) {
        return ServiceName.problem(name);
      }
      String problem = TopicFilter.problem(name);
      boolean isSystem = name.startsWith(String.valueOf(Topic.SYSTEM));
      if (problem != null || action == Action.BLOCK || isSystem == (action == Action.OBSERVE)) {
        return problem;
      }
      if (action == Action.JOURNAL) {
        return name + " is in no journal (expected: a filter that does not start with $)";
      }
      return isSystem
          ? "who subscribes to " + name + " observes (expected: the action observe)"
          : name + " is no filter of the system (expected: one that starts with $)";
    }

    private Map<String, Object> fields(Verdict verdict, FilterRules rules) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("allowed", verdict.allowed());
      fields.put("action", name(action));
      fields.put("name", name);
      fields.put("client", rules.origin());
      Rule by = verdict.by();
      if (by != null) {
        fields.put("rule", by.text());
        fields.put("source", by.source());
      }
      fields.put("reason", verdict.reason());
      return fields;
    }
  }

  /** List of the rules of a client. */
  @Command(
      name = "list",
      description =
          "Lists the rules that hold for a client, with its values in the templates, and the quotas"
              + " that are set for it and its account.")
  static final class Rules implements Runnable {
    private static final String EVERYTHING = ">";

    @Mixin PermissionOptions client = new PermissionOptions();
    @Spec CommandSpec spec = CommandSpec.create();

    private final CliContext context;

    Rules(CliContext context) {
      this.context = context;
    }

    @Override
    public void run() {
      TriedClient tried = client.client(spec, context);
      if (client.output == PermissionOptions.Output.JSON) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("rules", fields(tried.permissions()));
        all.put("quotas", limits(tried.quotas().identity()));
        all.put("accountQuotas", limits(tried.quotas().account()));
        json(context, all);
        return;
      }
      TableText table = new TableText().row("ACTION", "EFFECT", "FILTER", "RULE");
      for (Action action : Action.values()) {
        FilterRules rules = tried.permissions().of(action);
        if (rules.allowsWhatNoRuleDenies()) {
          table.row(name(action), name(Effect.ALLOW), EVERYTHING, shown(rules.origin()));
        }
        for (Rule rule : rules.rules()) {
          table.row(name(action), name(rule.effect()), filter(rule), rule.toString());
        }
      }
      table.lines().forEach(context.out()::line);
      list(tried.quotas());
    }

    private void list(ClientQuotas quotas) {
      TableText table = new TableText().row("QUOTA", "CLIENT", "ACCOUNT");
      boolean isSaid = false;
      for (Quota quota : Quota.values()) {
        Long ofClient = quotas.identity().limits().get(quota);
        Long ofAccount = quotas.account().limits().get(quota);
        if (ofClient != null || ofAccount != null) {
          isSaid = true;
          table.row(quota.key(), limit(quota, ofClient), limit(quota, ofAccount));
        }
      }
      if (isSaid) {
        context.out().line("");
        table.lines().forEach(context.out()::line);
      }
    }

    private static String limit(Quota quota, @Nullable Long limit) {
      return limit == null ? "" : quota.print(limit);
    }

    private static Map<String, Object> limits(Quotas quotas) {
      Map<String, Object> limits = new LinkedHashMap<>();
      quotas.limits().forEach((quota, limit) -> limits.put(quota.key(), limit));
      return limits;
    }

    private static List<Map<String, Object>> fields(Permissions permissions) {
      List<Map<String, Object>> all = new ArrayList<>();
      for (Action action : Action.values()) {
        FilterRules rules = permissions.of(action);
        if (rules.allowsWhatNoRuleDenies()) {
          Map<String, Object> fields = new LinkedHashMap<>();
          fields.put("action", name(action));
          fields.put("effect", name(Effect.ALLOW));
          fields.put("filter", EVERYTHING);
          fields.put("source", rules.origin());
          all.add(fields);
        }
        rules.rules().forEach(rule -> all.add(fields(rule)));
      }
      return all;
    }

    private static Map<String, Object> fields(Rule rule) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("action", name(rule.action()));
      fields.put("effect", name(rule.effect()));
      fields.put("filter", filter(rule));
      fields.put("rule", rule.text());
      fields.put("source", rule.source());
      return fields;
    }

    /**
     * Returns the filter of a rule; without one it is void: it allows nothing, or denies
     * everything.
     */
    private static String filter(Rule rule) {
      return rule.filter() == null ? "" : rule.filter().toString();
    }
  }

  private static String shown(String text) {
    return Text.printable(text);
  }
}
