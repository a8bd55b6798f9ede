// Some minutes before this workspace goes to sleep because nothing happens in it, say so, with a button that puts it off.
// What is asked goes over codehub's own socket, past the front door: to ask is no activity.
const http = require("http");
const vscode = require("vscode");

const LOOK_SECONDS = 30;
const LONGEST_WARNING_SECONDS = 300;
const KEEP_AWAKE = "Keep it awake";
const { CODEHUB_SERVER: server = "", CODEHUB_WORKSPACE: workspace, CODEHUB_TOKEN: token } = process.env;

function ask(method, path) {
    return new Promise((resolve, reject) => {
        const asked = http.request(
            {
                socketPath: server.replace(/^unix:/, ""),
                method,
                path: `/api/v1/workspaces/${workspace}/${path}`,
                headers: { Authorization: `Bearer ${token}`, Connection: "close" },
                timeout: 20000,
            },
            (answer) => {
                let said = "";
                answer.setEncoding("utf8");
                answer.on("data", (piece) => (said += piece));
                answer.on("end", () => {
                    if (answer.statusCode >= 400) reject(new Error(`codehub answered ${answer.statusCode}`));
                    else resolve(JSON.parse(said));
                });
            },
        );
        asked.on("timeout", () => asked.destroy(new Error("codehub does not answer")));
        asked.on("error", reject);
        asked.end();
    });
}

function sentence(seconds) {
    const minutes = Math.max(1, Math.round(seconds / 60));
    const when = minutes === 1 ? "a minute" : `${minutes} minutes`;
    return `This workspace goes to sleep in ${when} because nothing happened in it.`;
}

class Watch {
    constructor() {
        this.isWarned = false;
        this.isOver = false;
        this.look();
    }

    // Every half minute, and when the time for it has come. While codehub does not answer there is nothing to tell.
    async look() {
        const clock = await ask("GET", "clock").catch(() => null);
        let next = LOOK_SECONDS;
        if (clock !== null && clock.sleeps_in_seconds !== null) {
            const early = clock.sleeps_in_seconds - Math.min(LONGEST_WARNING_SECONDS, clock.idle_seconds / 3);
            if (early > 0) next = Math.min(LOOK_SECONDS, early + 1);
            else if (!this.isWarned) this.warn(clock.sleeps_in_seconds);
            this.isWarned = early <= 0;
        }
        if (!this.isOver) this.timer = setTimeout(() => this.look(), next * 1000);
    }

    async warn(seconds) {
        if ((await vscode.window.showWarningMessage(sentence(seconds), KEEP_AWAKE)) !== KEEP_AWAKE) return;
        try {
            await ask("POST", "extend");
        } catch (error) {
            vscode.window.showErrorMessage(`It could not be put off: ${error.message}.`);
        }
    }

    dispose() {
        this.isOver = true;
        clearTimeout(this.timer);
    }
}

exports.activate = (context) => {
    if (server.startsWith("unix:") && workspace && token) context.subscriptions.push(new Watch());
};
