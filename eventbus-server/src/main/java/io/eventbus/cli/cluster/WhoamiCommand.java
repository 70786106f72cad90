package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Identity that a bus gives to credentials. */
@Command(
    name = "whoami",
    description = {
      "Shows a user and password, or a token, to the administration port of a bus, and prints who"
          + " the bus takes them for: name, account, roles, how that was proved, until when it"
          + " holds, and what they may do at the administration port.",
      "Users and JSON Web Tokens are the same there as at the clients' port."
    })
public final class WhoamiCommand implements Callable<Integer> {
  @Mixin RegistryOptions options = new RegistryOptions();

  private final CliContext context;

  WhoamiCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    JsonNode json = options.api(context).get("/caller");
    if (options.json) {
      context.out().line(json.toString());
      return ExitCode.OK;
    }
    List<String> roles = new ArrayList<>();
    json.path("roles").forEach(role -> roles.add(role.asText()));
    TableText table = new TableText();
    table.row("name", shown(json.path("name").asText(), "(nobody has to log in)"));
    table.row("account", shown(json.path("account").asText(), "(none)"));
    table.row("roles", shown(String.join(", ", roles), "(none)"));
    table.row("proved by", shown(json.path("method").asText(), "-"));
    table.row("expires", shown(json.path("expiresAt").asText(""), "never"));
    table.row("administration", Text.printable(json.path("role").asText()));
    table.lines().forEach(context.out()::line);
    return ExitCode.OK;
  }

  private static String shown(String text, String none) {
    return text.isEmpty() || text.equals("null") ? none : Text.printable(text);
  }
}
