package io.eventbus.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.TableText;
import io.eventbus.cli.console.Text;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Revocation of clients' credentials. */
@Command(
    name = "revoke",
    description = {
      "Revokes the tokens of a client that were issued before a time, on all buses: they are"
          + " refused, and connections that began with them are closed.",
      "A user with a password, or a client with a certificate, is only disconnected: take it out of"
          + " the users file of every bus first.",
      "It is kept for 25 hours, longer than any token lives; a bus that serves alone forgets it"
          + " when it ends. Needs the role admin; --list needs viewer."
    })
public final class RevokeCommand implements Callable<Integer> {
  @Mixin RegistryOptions options = new RegistryOptions();

  @Option(
      names = "--account",
      paramLabel = "NAME",
      description = "Account of the client (default: that of all that have none).")
  String account = "";

  @Option(
      names = "--subject",
      paramLabel = "NAME",
      description = "The client: sub of its tokens, the user, or the name in its certificate.")
  @Nullable String subject;

  @Option(
      names = "--before",
      paramLabel = "TIME",
      description =
          "What was issued earlier is revoked, for example 2026-01-02T03:04:05Z (default: now;"
              + " up to 30 s in the future, for tokens of an issuer whose clock is ahead).")
  @Nullable String before;

  @Option(names = "--undo", description = "Takes the revocation of the client back.")
  boolean undo;

  @Option(names = "--list", description = "Lists what is revoked.")
  boolean list;

  private final CliContext context;

  RevokeCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    if (list) {
      if (subject != null || before != null || undo || !account.isEmpty()) {
        throw new CliFailure(ExitCode.USAGE, "--list with another option (expected: it alone)");
      }
      return list();
    }
    String named = subject;
    if (named == null) {
      throw new CliFailure(
          ExitCode.USAGE, "no client (expected: --subject NAME, and --account NAME; or --list)");
    }
    if (undo && before != null) {
      throw new CliFailure(ExitCode.USAGE, "--undo with --before (expected: one of them)");
    }
    String path =
        "/revocations?account="
            + RegistryHttp.encoded(account)
            + "&subject="
            + RegistryHttp.encoded(named)
            + (before == null ? "" : "&before=" + RegistryHttp.encoded(before));
    JsonNode json = options.api(context).send(undo ? "DELETE" : "PUT", path);
    context.out().line(options.json ? json.toString() : told(json));
    return ExitCode.OK;
  }

  private String told(JsonNode json) {
    String who =
        Text.printable(json.path("subject").asText())
            + (account.isEmpty() ? "" : " of account " + Text.printable(account));
    if (undo) {
      return "Nothing of " + who + " is revoked any more.";
    }
    return "What was issued for "
        + who
        + " before "
        + Text.printable(json.path("issuedBefore").asText())
        + " is revoked."
        + (json.path("keptFor").asText().equals("process")
            ? "\nThis bus serves alone: it forgets that when it ends."
            : "");
  }

  private Integer list() throws InterruptedException {
    RegistryHttp http = options.api(context);
    TableText table = new TableText();
    table.row("ACCOUNT", "SUBJECT", "ISSUED BEFORE");
    String path = "/revocations?limit=1000";
    while (true) {
      JsonNode json = http.get(path);
      for (JsonNode item : json.path("items")) {
        if (options.json) {
          context.out().line(item.toString());
        }
        table.row(
            Text.printable(item.path("account").asText()),
            Text.printable(item.path("subject").asText()),
            Text.printable(item.path("issuedBefore").asText()));
      }
      String next = json.path("next").asText("");
      if (!next.startsWith("/api/v1/revocations?")) {
        break;
      }
      path = next.substring("/api/v1".length());
    }
    if (!options.json) {
      table.lines().forEach(context.out()::line);
    }
    return ExitCode.OK;
  }
}
